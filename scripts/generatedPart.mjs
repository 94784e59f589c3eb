import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const project = fileURLToPath(new URL("..", import.meta.url))

/**
 * Writes the part of a page below the mark of a script; what is above the mark is written by hand and stays. The script's arguments may be
 * another file, and `--check`: then nothing is written, and the script fails where the file differs.
 */
export const writeGeneratedPart = ({ generated, page, script, source }) => {
  const file = process.argv.slice(2).find((argument) => !argument.startsWith("-")) ?? join(project, page)
  const mark = `<!-- From here on written by scripts/${script} -->`
  const before = readFileSync(file, "utf8")
  if (!before.includes(mark)) throw new Error(`${file} has no line ${mark}`)
  const after = `${before.slice(0, before.indexOf(mark))}${mark}\n\n${generated}`
  if (!process.argv.includes("--check")) writeFileSync(file, after)
  else if (after !== before) {
    console.error(`${file} is not what the ${source} say: run node scripts/${script}`)
    process.exitCode = 1
  }
}
