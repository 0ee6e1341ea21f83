import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";

/** The packages of the packaged command, by Node's name of the platform. */
const PACKAGES: Record<string, string> = {
  "linux-x64": "@kafkastub/linux-x64",
};

/** The package of the packaged command for this machine; undefined where there is none. */
function packageName(): string | undefined {
  return PACKAGES[`${process.platform}-${process.arch}`];
}

/**
 * Find the command: the one that is given, that of the environment variable KAFKASTUB, the packaged one, or kafkastub on
 * the PATH; the first of them that there is. Throws a sentence.
 */
export function findCommand(given?: string): string {
  for (const [by, named] of [
    ["command", given],
    ["KAFKASTUB", process.env["KAFKASTUB"]],
  ] as const) {
    if (named) {
      const found = onPath(named);
      if (found === undefined) {
        throw new Error(`kafkastub: ${by}=${named} is refused: there is no such program that can be run`);
      }
      return found;
    }
  }
  const name = packageName();
  const packaged = name === undefined ? undefined : inPackage(name);
  const found = packaged ?? onPath("kafkastub");
  if (found !== undefined) {
    return found;
  }
  const why =
    name === undefined
      ? `there is no packaged kafkastub for ${process.platform}-${process.arch}: `
      : `no kafkastub was found: install the package ${name} (npm leaves it out with --omit=optional), `;
  throw new Error(
    `kafkastub: ${why}set the environment variable KAFKASTUB to its command, or put kafkastub on the PATH`,
  );
}

/** The command in a package. Throws where the package is there and damaged. */
function inPackage(name: string): string | undefined {
  let folder: string;
  try {
    folder = join(createRequire(__filename).resolve(`${name}/package.json`), "..");
  } catch {
    return undefined;
  }
  if (!existsSync(folder)) {
    return undefined; // Node remembers where things were
  }
  const command = join(folder, "kafkastub", "kafkastub");
  const program = isProgram(command);
  if (!program || !existsSync(join(folder, "kafkastub", "VERSION"))) {
    const why = program ? "files of it are missing" : `${command} cannot be run`;
    throw new Error(`kafkastub: the package ${name} is damaged: ${why}; install it again`);
  }
  return command;
}

function onPath(name: string): string | undefined {
  if (name.includes("/") || name.includes("\\")) {
    return isProgram(name) ? resolve(name) : undefined;
  }
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => resolve(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
