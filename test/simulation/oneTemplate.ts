import { fillTemplate } from "./template.ts"

// Makes the files with which a world begins. Arguments: the number of the world, where nodes may write meanwhile, and the
// directory to fill.

const [world, place = "", directory = ""] = process.argv.slice(2)
await fillTemplate({ world: world === "2" ? 2 : 1, place, directory })
process.exit()
