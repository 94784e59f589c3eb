import { transform } from "esbuild"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import type { Vite } from "vitest/node"

/**
 * Compiles the sources once a run, and lets Node.js load them as a program does. Otherwise vitest compiles each source for each
 * project, and hands it to each process in a message: a ninth of the processor time of the quick tests.
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const SOURCES = join(ROOT, "src")

/** What `server.deps.external` of vitest needs: such a file is loaded by Node.js. */
export const COMPILED = /\/build\/bundle\/compiled-\w+\//

/** Examples and their tests name the package. */
const ENTRY = /^svcd(?:\/(\w+))?$/

/** The file that an import names: an entry of the package, or one beside the importer. */
const named = (id: string, importer: string | undefined): string | undefined => {
  const [isEntry, entry = "index"] = ENTRY.exec(id) ?? []
  if (isEntry !== undefined) return join(SOURCES, `${entry}.ts`)
  return importer !== undefined && id.startsWith(".") ? resolve(dirname(importer), id) : undefined
}

/** The programs of threads. Their owners do the work themselves where these are missing, as beside the sources. */
const THREAD = /new URL\("\.\/(\w+)\.js", import\.meta\.url\)/g

const compile = async (directory: string): Promise<void> => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"))
  const sources = files.map((path) => ({ path, text: readFileSync(join(SOURCES, path), "utf8") }))
  const threads = new Set(
    sources.flatMap(({ path, text }) => [...text.matchAll(THREAD)].map(([, name]) => join(dirname(path), `${name}.ts`)))
  )
  await Promise.all(
    sources.filter(({ path }) => !threads.has(path)).map(async ({ path, text }) => {
      const { code, map } = await transform(text, {
        format: "esm",
        loader: "ts",
        sourcefile: join(SOURCES, path),
        sourcemap: "external",
        target: "node22",
        tsconfigRaw: { compilerOptions: { target: "ES2022", verbatimModuleSyntax: true } }
      })
      const outfile = join(directory, path.replace(/\.ts$/, ".js"))
      mkdirSync(dirname(outfile), { recursive: true })
      writeFileSync(
        outfile,
        `${code.replaceAll(/((?:from|import) ?\(?")(\.[^"]*)\.ts"/g, `$1$2.js"`)}//# sourceMappingURL=${
          basename(outfile)
        }.map\n`
      )
      writeFileSync(`${outfile}.map`, map)
    })
  )
}

/** The plugin of vitest. While vitest watches, it loads the sources itself: it has to know which tests load which of them. */
export const compiledSources = (): Vite.Plugin => {
  // One for all projects of a run.
  let directory: string | undefined
  let compiled: Promise<void> | undefined
  return {
    name: "svcd-compiled-sources",
    enforce: "pre",
    async configureVitest({ vitest }) {
      if (vitest.config.watch) return
      if (directory === undefined) {
        const parent = join(ROOT, "build/bundle")
        mkdirSync(parent, { recursive: true })
        const made = mkdtempSync(join(parent, "compiled-"))
        vitest.onClose(() => rmSync(made, { recursive: true, force: true }))
        directory = made
        compiled = compile(made)
      }
      await compiled
    },
    resolveId(id, importer) {
      const path = named(id, importer)
      if (path === undefined || !path.startsWith(`${SOURCES}/`)) return undefined
      return directory === undefined ? path : join(directory, path.slice(SOURCES.length).replace(/\.ts$/, ".js"))
    }
  }
}
