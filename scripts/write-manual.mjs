// Writes the manual pages from the last build. Usage: write-manual.mjs [FOLDER], build/man if it is missing

import { join } from "node:path"
import { PROJECT } from "./package/facts.mjs"
import { writeManual } from "./package/manual.mjs"

await writeManual(process.argv[2] ?? join(PROJECT, "build/man"))
