// CommonJS by the compiler, and for `import` a module that passes on the same: a process has one launcher, whichever way
// its tests load the package.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";

rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc"], { stdio: "inherit" });
for (const file of ["dist/index.mjs", "dist/index.d.mts"]) {
  writeFileSync(file, 'export * from "./index.js";\n');
}
// A module that `import` loads has the function itself as its default, not what CommonJS has as its exports.
writeFileSync("dist/setup.mjs", 'import setup from "./setup.js";\nexport default setup.default ?? setup; // vitest unwraps it by itself\n');
writeFileSync("dist/setup.d.mts", 'export { default } from "./setup.js";\n');
