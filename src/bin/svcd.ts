#!/usr/bin/env node
import process from "node:process"

// The program's files are for its user alone.
process.umask(0o077)

// While loading, the signal that reopens the log file would otherwise end the process.
process.on("SIGHUP", () => {})

/** Settles after the command, or rejects if a file or a package of svcd is missing. */
export const running = import("../programs/svcd/daemonProgram.ts").then(({ main }) => main())
