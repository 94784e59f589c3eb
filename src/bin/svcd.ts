#!/usr/bin/env node
import process from "node:process"

// What this program writes is for its user alone.
process.umask(0o077)

// Loading takes a moment. Without this handler, the signal that reopens the log file would end the process.
process.on("SIGHUP", () => {})

/** Settles when the command line is carried out, or rejects if a file or a package of svcd is missing. */
export const running = import("../programs/svcd/daemonProgram.ts").then(({ main }) => main())
