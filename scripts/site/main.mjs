// Makes the site of the documents: the pages of docs/README.md, the reference of the library, and a search in both.
// Usage: main.mjs [folder]; build/site where none is given. Loads nothing from the network.

import { join, posix, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { Application, KindRouter, TypeDocReader } from "typedoc"
import { checkSite } from "./checkSite.mjs"
import { readPages } from "./readPages.mjs"
import { writePages } from "./writePages.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))
const out = resolve(process.argv[2] ?? join(root, "build/site"))
const staged = `${out}-pages`

/** Pages are where the documents are in the repository, and the reference of the library below `api`. */
class SiteRouter extends KindRouter {
  getIdealBaseName(reflection) {
    if (!reflection.isDocument()) return `api/${super.getIdealBaseName(reflection)}`
    const file = reflection.project.files.getReflectionPath(reflection)
    return posix.normalize(relative(staged, file).replaceAll("\\", "/")).replace(/\.md$/, "").replace(
      /README$/,
      "index"
    )
  }
}

const { front, groups, pages } = readPages(root)
const documents = writePages({ folder: staged, front, pages, root })
const app = await Application.bootstrap({
  options: join(root, "typedoc.json"),
  projectDocuments: documents,
  readme: join(staged, front),
  out,
  router: "site",
  categoryOrder: [...groups, "Library"],
  defaultCategory: "Library",
  // The pages for users before those for contributors and before the library.
  searchCategoryBoosts: Object.fromEntries(groups.filter((name) => name !== "Contributors").map((name) => [name, 3]))
}, [new TypeDocReader()])
app.renderer.defineRouter("site", SiteRouter)
const project = await app.convert()
if (project === undefined) process.exit(1)
await app.generateOutputs(project)
const problems = checkSite(out)
for (const problem of problems) console.error(problem)
if (app.logger.hasErrors() || app.logger.hasWarnings() || problems.length > 0) process.exitCode = 1
else console.log(`site: ${pages.length} pages in ${relative(process.cwd(), out)}`)
