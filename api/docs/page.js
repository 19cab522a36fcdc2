"use strict";
// The page: an index on the left, operations by tag, then every schema.

const Page = {
  async draw() {
    const answer = await fetch("openapi.json");
    const api = await answer.json();
    Schema.all = api.components.schemas;
    document.getElementById("title").textContent = `${api.info.title} API ${api.info.version}`;
    const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
    const intro = make("section", {}, make("h1", {}, api.info.summary), prose(api.info.description),
      prose("The whole description as one file: `openapi.json`. To begin: createGuest, createGame, startGame, then getView and makeMove."));
    const tags = api.tags.map((tag) => this.tag(tag, operations.filter(({ operation }) => operation.tags.includes(tag.name))));
    document.getElementById("main").replaceChildren(intro, ...tags, this.schemas());
    document.getElementById("index").replaceChildren(...this.index(api.tags, operations));
    this.openTarget();
  },

  tag(tag, operations) {
    return make("section", {}, make("h2", {}, tag.name), prose(tag.description), operations.map((each) => this.operation(each)));
  },

  operation({ path, method, operation }) {
    const inside = make("div", { class: "body" });
    const details = make("details", { class: "operation", id: operation.operationId },
      make("summary", {},
        make("span", { class: `method ${method}` }, method), make("span", { class: "path" }, path),
        make("span", { class: "about" }, operation.summary),
        operation.security.length ? make("span", { class: "lock" }, `token: ${operation.security[0].bearer}`) : null),
      inside);
    details.addEventListener("toggle", () => {
      if (details.open && !inside.childNodes.length) inside.append(...this.inside(path, method, operation));
    });
    return details;
  },

  inside(path, method, operation) {
    const parameters = operation.parameters || [];
    const body = operation.requestBody;
    return [
      make("p", { class: "note" }, make("code", {}, operation.operationId)),
      prose(operation.description),
      parameters.length ? make("h4", {}, "Parameters") : null,
      parameters.length ? make("table", {}, parameters.map((parameter) => this.parameter(parameter))) : null,
      body ? make("h4", {}, body.required ? "Body" : "Body, optional") : null,
      body ? Schema.draw(body.content["application/json"].schema) : null,
      make("h4", {}, "Answers"),
      make("div", { class: "answers" }, Object.entries(operation.responses).map(([status, response]) => this.answer(status, response))),
      Trying.panel(method, path, operation),
    ].filter(Boolean);
  },

  parameter(parameter) {
    return make("tr", {},
      make("td", {}, make("code", {}, parameter.name), parameter.required ? make("span", { class: "required" }, "*") : null),
      make("td", { class: "type" }, parameter.in),
      make("td", {}, make("span", { class: "type" }, Schema.type(parameter.schema), " "), prose(parameter.description),
        make("span", { class: "note" }, Schema.limits(parameter.schema))));
  },

  answer(status, response) {
    const headers = Object.keys(response.headers || {});
    const contents = Object.entries(response.content || {}).map(([type, content]) =>
      make("div", {}, make("span", { class: "note" }, type), content["x-sse"] ? this.messages(content["x-sse"]) : Schema.draw(content.schema), this.example(content)));
    const isGood = Number(status) < 400;
    const details = make("details", {},
      make("summary", {}, make("span", { class: `status ${isGood ? "good" : "bad"}` }, status), " ",
        make("span", { class: "note" }, isGood ? response.description : this.codes(response.description))),
      isGood ? null : prose(response.description), headers.length ? prose(`Headers: ${headers.map((name) => `\`${name}\``).join(", ")}`) : null, contents);
    details.open = status === "200" || status === "201";
    return details;
  },

  // Written where it is opened: some are long.
  example({ example }) {
    if (example === undefined) return null;
    const text = make("pre");
    const details = make("details", { class: "example" }, make("summary", {}, "Example"), text);
    details.addEventListener("toggle", () => { text.textContent = typeof example === "string" ? example : JSON.stringify(example, null, 2); });
    return details;
  },

  codes(description) {
    return Array.from(description.matchAll(/^- `(\w+)`/gm), (match) => match[1]).join(", ") || description;
  },

  messages(kinds) {
    return make("table", {}, Object.entries(kinds).map(([kind, schema]) =>
      make("tr", {}, make("td", {}, make("code", {}, kind)), make("td", {}, Schema.draw(schema)))));
  },

  schemas() {
    return make("section", {}, make("h2", {}, "Schemas"), Object.entries(Schema.all).map(([name]) => {
      const details = Schema.component(name, false);
      details.id = `schema-${name}`;
      return details;
    }));
  },

  index(tags, operations) {
    const link = (id, ...label) => make("a", { href: `#${id}` }, ...label);
    const groups = tags.flatMap((tag) => [make("h2", {}, tag.name),
      ...operations.filter(({ operation }) => operation.tags.includes(tag.name)).map(({ method, operation }) =>
        link(operation.operationId, make("span", { class: `method ${method}` }, method), operation.operationId))]);
    return [...groups, make("h2", {}, "Schemas"), ...Object.keys(Schema.all).map((name) => link(`schema-${name}`, name))];
  },

  openTarget() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
  },

  filter(wanted) {
    for (const link of document.querySelectorAll("#index a")) link.hidden = !link.textContent.toLowerCase().includes(wanted.toLowerCase());
  },
};

const token = document.getElementById("token");
token.value = sessionStorage.getItem("token") || "";
token.addEventListener("change", () => sessionStorage.setItem("token", token.value.trim()));
document.getElementById("reveal").addEventListener("click", (event) => {
  const isShown = token.type === "password";
  token.type = isShown ? "text" : "password";
  event.target.textContent = isShown ? "hide" : "show";
  event.target.setAttribute("aria-pressed", String(isShown));
});
document.getElementById("filter").addEventListener("input", (event) => Page.filter(event.target.value));
addEventListener("hashchange", () => Page.openTarget());
Page.draw().catch((error) => { document.getElementById("main").textContent = `The description could not be read: ${error.message}`; });
