#!/usr/bin/env node
import process from "node:process"
import { boundHeap } from "../base/boundHeap.ts"

// What this program writes is for its user alone.
process.umask(0o077)

boundHeap()

// Loading takes a second. Without this handler, the signal that reopens the log file would end the process.
process.on("SIGHUP", () => {})
const { main } = await import("../programs/svcd/daemonProgram.ts")
await main()
