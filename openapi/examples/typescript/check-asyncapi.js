/** Checks an AsyncAPI document by the standard's own parser: node check-asyncapi.js FILE */

import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

const KNOWN = ["asyncapi-latest-version"]; // 3.0.0 is what more tools can read than any later version
const { diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
const found = diagnostics.filter(({ code }) => !KNOWN.includes(code));
for (const { message, path } of found) console.log(`${path.join("/")}: ${message}`);
process.exit(found.length > 0 ? 1 : 0);
