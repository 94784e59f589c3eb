import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

/** The module that each import, export or import type of a declaration names. */
const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(\s*|^import\s*)"([^"]+)"/gm

/** The modules that a declaration names. */
export const modulesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(SPECIFIER)].map(([, specifier = ""]) => specifier)

/** Below `source`, the declarations that these entries reach: the text of each file. */
export const reachedFrom = (source: string, entries: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>()
  const waiting = entries.map((entry) => join(source, `${entry}.d.ts`))
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (texts.has(file)) continue
    const text = readFileSync(file, "utf8")
    texts.set(file, text)
    for (const specifier of modulesIn(text)) {
      if (!specifier.startsWith(".")) continue
      waiting.push(resolve(dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts")))
    }
  }
  return texts
}

/**
 * Copies the declarations that the entries of the library reach, and no others, into a folder. Their maps stay behind: they lead to
 * sources, which the package does not have.
 */
export const copyDeclarations = (
  { entries, source, target }: {
    readonly entries: ReadonlyArray<string>
    readonly source: string
    readonly target: string
  }
): void => {
  rmSync(target, { force: true, recursive: true })
  for (const [file, text] of reachedFrom(source, entries)) {
    const path = join(target, relative(source, file))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text.replace(/^\/\/# sourceMappingURL=.*$\n?/m, ""))
  }
}
