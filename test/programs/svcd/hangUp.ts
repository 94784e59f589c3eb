import process from "node:process"

/** Runs a program in this process, and sends it SIGHUP at the moment that it first listens for it. */

let sent = false
process.on("newListener", (event: string | symbol) => {
  if (event !== "SIGHUP" || sent) return
  sent = true
  setImmediate(() => process.kill(process.pid, "SIGHUP"))
})
process.on("exit", () => process.stdout.write(sent ? "hung up\n" : "no listener\n"))

const [, , program = ""] = process.argv
process.argv.splice(2, 1)
await import(program)
