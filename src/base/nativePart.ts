import { codeOf } from "./errorCode.ts"

/** The compiled parts of packages, which an installation can lack: on a platform for which a package has none, or in a damaged one. */

/** Returns what is wrong with the compiled part of a package and the remedy; `undefined` for another error. */
export const nativeProblem = (error: unknown, name: string): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const part = `the native part of ${name} for ${process.platform} on ${process.arch}`
  const compile = `compile it with "npm explore ${name} -- npm run build-release"`
  const code = codeOf(error)
  if (code === "MODULE_NOT_FOUND" && error.message.includes(".node'")) {
    return `${part} is missing: install svcd again, or ${compile} where the package has none`
  }
  return code === "ERR_DLOPEN_FAILED"
    ? `${part} cannot be loaded on this system: install svcd again, or ${compile} where the system is older than it`
    : undefined
}
