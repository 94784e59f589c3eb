// The hostile side of an attack, in a process of its own with the lowest priority on the processor.
// It communicates with main.ts over IPC.

import { setPriority } from "node:os"
import process from "node:process"
import { ATTACKS } from "./catalogue.ts"
import { Field } from "./Field.ts"
import type { AttackerNews, AttackerOrder } from "./observed.ts"

setPriority(10)

const tell = (news: AttackerNews) => process.send?.(news)

let field: Field | undefined
let begin: (() => void) | undefined

process.on("message", (order: AttackerOrder) => {
  if (order.type === "prepare") {
    const attack = ATTACKS.find(({ name }) => name === order.attack)
    if (attack === undefined) throw new Error(`there is no attack ${order.attack}`)
    const prepared = new Field(order.target)
    field = prepared
    const run = attack.prepare(prepared)
    begin = () => void run()
    const gathered = attack.gathered === undefined ? Promise.resolve() : prepared.gather(attack.gathered)
    void gathered.then(() => tell({ type: "prepared" }))
  } else if (order.type === "begin") begin?.()
  else if (field !== undefined) {
    const { bytes, connections } = field
    field.stop()
    tell({ type: "effort", connections, bytes })
  }
})
process.on("disconnect", () => process.exit())
