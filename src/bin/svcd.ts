#!/usr/bin/env node
import process from "node:process"

// Loading takes a second, in which the signal that has the log file opened anew would end the process.
process.on("SIGHUP", () => {})
const { main } = await import("../runtime/daemonProgram.ts")
main()
