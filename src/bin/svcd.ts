#!/usr/bin/env node
import process from "node:process"
import { setFlagsFromString } from "node:v8"

// What this program writes is for its user alone.
process.umask(0o077)

// V8 would let the heap of a sync grow to four times what is in use before it collects the old objects.
setFlagsFromString("--heap-growing-percent=100")

// Loading takes a second. Without this handler, the signal that reopens the log file would end the process.
process.on("SIGHUP", () => {})
const { main } = await import("../programs/svcd/daemonProgram.ts")
await main()
