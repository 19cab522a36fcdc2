"use strict";
// Sending requests from the page. What a request needs is asked for; keys, tokens and ids are remembered.

const Remembered = { game_id: "", name: "davis", seat: "0" };

const Trying = {
  panel(method, path, operation) {
    const inputs = (operation.parameters || []).map((parameter) => {
      const input = make("input", { placeholder: parameter.schema.default !== undefined ? String(parameter.schema.default) : "" });
      input.dataset.in = parameter.in;
      input.dataset.name = parameter.name;
      if (parameter.in === "path") input.value = Remembered[parameter.name] || "";
      if (parameter.name === "Idempotency-Key") input.value = this.newKey();
      return make("label", {}, make("span", {}, make("code", {}, parameter.name)), input);
    });
    const content = operation.requestBody && operation.requestBody.content["application/json"];
    const body = content ? make("textarea", { spellcheck: false, "aria-label": "Body" }) : null;
    if (body) body.value = JSON.stringify(content.example || {}, null, 2);
    const send = make("button", { class: "send", type: "submit" }, "Send");
    const stop = make("button", { type: "button", hidden: true }, "Stop");
    const shown = make("div", { "aria-live": "polite" });
    const form = make("form", { class: "try" }, make("strong", {}, "Try it"), inputs, body, make("div", { class: "row" }, send, stop), shown);
    form.addEventListener("focusin", () => this.fillIn(form));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send(this.request(method, path, form, body), shown, stop);
    });
    return form;
  },

  fillIn(form) {
    for (const input of form.querySelectorAll("input[data-in=path]")) input.value ||= Remembered[input.dataset.name] || "";
  },

  newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  },

  request(method, path, form, body) {
    const headers = {}, query = new URLSearchParams();
    const token = document.getElementById("token").value.trim();
    if (token) headers.Authorization = `Bearer ${token}`;
    for (const input of form.querySelectorAll("input[data-in]")) {
      const { in: place, name } = input.dataset, value = input.value.trim();
      if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
      if (value && place === "query") query.set(name, value);
      if (value && place === "header") headers[name] = value;
      if (value && place === "path" && name in Remembered) Remembered[name] = value;
    }
    if (body) headers["Content-Type"] = "application/json";
    const search = query.size ? `?${query}` : "";
    return { method: method.toUpperCase(), url: path + search, headers, body: body ? body.value : undefined };
  },

  curl(request) {
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const lines = [`curl -i -X ${request.method} ${quoted(location.origin + request.url)}`];
    for (const [name, value] of Object.entries(request.headers)) {
      lines.push(`  -H ${name === "Authorization" ? '"Authorization: Bearer $TOKEN"' : quoted(`${name}: ${value}`)}`);
    }
    if (request.body) lines.push(`  -d ${quoted(request.body)}`);
    return lines.join(" \\\n");
  },

  async send(request, shown, stop) {
    const head = make("p", {}, "…"), text = make("pre", {}), headers = make("pre", {});
    shown.replaceChildren(
      make("details", {}, make("summary", {}, "as curl"), make("pre", {}, this.curl(request))), head, text,
      make("details", {}, make("summary", {}, "headers of the answer"), headers));
    const leaving = new AbortController();
    stop.onclick = () => leaving.abort();
    const began = performance.now();
    try {
      const answer = await fetch(request.url, { ...request, signal: leaving.signal, cache: "no-store" });
      head.replaceChildren(make("span", { class: `status ${answer.ok || answer.status === 304 ? "good" : "bad"}` }, `${answer.status} ${answer.statusText}`), ` in ${Math.round(performance.now() - began)} ms`);
      headers.textContent = Array.from(answer.headers, ([name, value]) => `${name}: ${value}`).join("\n");
      if ((answer.headers.get("content-type") || "").startsWith("text/event-stream")) await this.follow(answer, text, stop);
      else this.show(await answer.text(), text);
    } catch (error) {
      if (error.name !== "AbortError") head.textContent = `No answer: ${error.message}`;
    } finally {
      stop.hidden = true;
    }
  },

  async follow(answer, text, stop) {
    stop.hidden = false;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text.textContent = (text.textContent + part.value).slice(-20000);
      text.scrollTop = text.scrollHeight;
    }
  },

  show(answer, text) {
    let value;
    try { value = JSON.parse(answer); } catch { text.textContent = answer || "(no body)"; return; }
    text.textContent = JSON.stringify(value, null, 2);
    if (value.token) {
      const token = document.getElementById("token");
      token.value = value.token;
      token.dispatchEvent(new Event("change"));
    }
    if (value.game_id) Remembered.game_id = value.game_id;
  },
};
