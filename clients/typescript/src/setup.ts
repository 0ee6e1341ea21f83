import { Launcher } from "./launcher.js";

/**
 * One launcher for all test files, started before the first of them: a global set-up of vitest (`globalSetup:
 * "kafkastub/setup"`) and jest. Gives what ends it, which vitest calls; otherwise it ends with the process.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const launcher = await Launcher.start();
  process.env["KAFKASTUB_LAUNCHER"] = launcher.address;
  return () => launcher.close();
}
