import { createRequire } from "node:module"
import { codeOf } from "../base/errorCode.ts"

/** Parts that an installation may lack: compiled ones of packages without the platform, or any if damaged. */

const { resolve } = createRequire(import.meta.url)

const isInstalled = (name: string): boolean => {
  try {
    return resolve(name) !== ""
  } catch {
    return false
  }
}

/** The problem of a package's compiled part and the remedy; `undefined` for another error. */
export const nativeProblem = (error: unknown, name: string): string | undefined => {
  if (!(error instanceof Error)) return undefined
  const part = `the native part of ${name} for ${process.platform} on ${process.arch}`
  const compile = `compile it with "npm explore ${name} -- npm run build-release"`
  const code = codeOf(error)
  if (code === "MODULE_NOT_FOUND" && isInstalled(name)) {
    return `${part} is missing: install svcd again, or ${compile} where the package has none`
  }
  return code === "ERR_DLOPEN_FAILED"
    ? `${part} cannot be loaded on this system: install svcd again, or ${compile} where the system is older than it`
    : undefined
}

const MISSING = /^Cannot find (?:package|module) '([^'/\\]+|@[^'/\\]+\/[^'/\\]+)'/

/**
 * The package or file that did not load, and the remedy; `undefined` for another error. The programs' launchers say the
 * same of their own imports (scripts/bundle.ts).
 */
export const missingPart = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !/^(?:ERR_)?MODULE_NOT_FOUND$/.test(codeOf(error))) return undefined
  const [, name] = MISSING.exec(error.message) ?? []
  const what = name === undefined ? "a file of svcd" : `the package ${name}`
  return `${what} is missing: run "npm install" where svcd is installed, or install svcd again`
}
