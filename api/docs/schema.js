"use strict";
// Drawing schemas: each object as a list of fields that opens in place.

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function inline(line) {
  return line.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

// The little Markdown that descriptions use: paragraphs, lists, code.
function prose(text) {
  const blocks = (text || "").split(/\n\n+/).map((block) => {
    const lines = block.split("\n");
    if (lines.every((line) => line.startsWith("- "))) {
      return make("ul", {}, lines.map((line) => make("li", {}, inline(line.slice(2)))));
    }
    return make("p", {}, inline(lines.join(" ")));
  });
  return make("div", {}, blocks);
}

const Schema = {
  all: {},

  nameOf(schema) {
    return schema && schema.$ref ? schema.$ref.split("/").pop() : null;
  },

  // One line that says what a value is.
  type(schema) {
    const name = this.nameOf(schema);
    if (name) return name;
    if (schema.oneOf) return schema.oneOf.map((member) => this.type(member)).join(" | ");
    if ("const" in schema) return JSON.stringify(schema.const);
    const listed = schema.enum || schema["x-extensible-enum"];
    if (listed) return listed.map((value) => JSON.stringify(value)).join(" | ") + (schema.enum ? "" : " | …");
    if (schema.type === "array") return `[${this.type(schema.items)}]`;
    if (schema.type === "object") return schema.additionalProperties ? `{…: ${this.type(schema.additionalProperties)}}` : "object";
    return [schema.type || "any"].flat().join(" | ");
  },

  limits(schema) {
    const said = [];
    if (schema.format) said.push(schema.format);
    if (schema.minimum !== undefined || schema.maximum !== undefined) said.push(`${schema.minimum ?? "…"} to ${schema.maximum ?? "…"}`);
    if (schema.pattern) said.push(schema.pattern);
    if (schema.default !== undefined) said.push(`default ${JSON.stringify(schema.default)}`);
    return said.join(", ");
  },

  // The objects that a schema leads to directly.
  targets(schema) {
    if (!schema) return [];
    if (schema.$ref) return [this.nameOf(schema)];
    if (schema.oneOf) return schema.oneOf.flatMap((member) => this.targets(member));
    if (schema.items) return this.targets(schema.items);
    if (typeof schema.additionalProperties === "object") return this.targets(schema.additionalProperties);
    return [];
  },

  draw(schema) {
    const targets = this.targets(schema);
    if (!targets.length) return make("code", { class: "mono" }, this.type(schema));
    return make("div", {}, targets.length === 1 && schema.$ref ? null : make("code", {}, this.type(schema)), targets.map((name) => this.component(name, targets.length === 1)));
  },

  component(name, isOpen) {
    const inside = make("div", { class: "schema" });
    const details = make("details", {}, make("summary", {}, make("code", {}, name)), inside);
    const fill = () => details.open && !inside.childNodes.length && inside.append(this.fields(this.all[name]));
    details.addEventListener("toggle", fill);
    if (isOpen) { details.open = true; fill(); }
    return details;
  },

  fields(schema) {
    const rows = Object.entries(schema.properties || {}).map(([name, field]) => {
      const isRequired = (schema.required || []).includes(name);
      return make("div", { class: "field" },
        make("code", {}, name), isRequired ? make("span", { class: "required", title: "always there" }, "*") : null, " ",
        make("span", { class: "type" }, [this.type(field), this.limits(field)].filter(Boolean).join(" · ")),
        field.description ? make("span", { class: "says" }, inline(field.description)) : null,
        this.targets(field).map((target) => this.component(target, false)));
    });
    const members = (schema.oneOf || []).map((member) => this.component(this.nameOf(member), false));
    return make("div", {}, prose(schema.description), rows, members);
  },
};
