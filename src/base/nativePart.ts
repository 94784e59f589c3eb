import { codeOf } from "./errorCode.ts"

/** The compiled parts of packages, which an installation can lack: without a compiler, or after an update of Node.js. */

const OTHER_NODE = /NODE_MODULE_VERSION|different Node\.js version/

/** Returns what is wrong with the compiled part of a package and the remedy; `undefined` for another error. */
export const nativeProblem = (error: unknown, name: string): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const remedy = `run "npm rebuild ${name}" where svcd is installed, or install svcd again`
  // The package `bindings` looks for the part in a list of places, and puts all of them into its message.
  if (error.message.startsWith("Could not locate the bindings file")) {
    return `the native part of ${name} is missing: ${remedy}`
  }
  if (codeOf(error) !== "ERR_DLOPEN_FAILED") return undefined
  return OTHER_NODE.test(error.message)
    ? `the native part of ${name} was built for another version of Node.js: ${remedy}`
    : `the native part of ${name} cannot be loaded on this system: ${remedy}`
}
