import { Effect } from "effect"
import { open as openHandle } from "node:fs/promises"
import { open } from "../../../src/wallet/keys/WalletFile.ts"

/**
 * Copies the wallet of the first argument to the second. It hangs once the draft of the copy is written and not yet
 * renamed, and waits to be killed there.
 */
const [path = "", destination = ""] = process.argv.slice(2)

const handle = await openHandle(path)
const kind: { sync: () => Promise<void> } = Object.getPrototypeOf(handle)
await handle.close()
const { sync } = kind
// The note and its folder are synced first.
let syncs = 0
kind.sync = async function() {
  if (++syncs <= 2) return sync.call(this)
  process.stdout.write("the draft is written\n")
  await new Promise(() => {
    setInterval(() => {}, 60_000)
  })
}

void Effect.runPromise(Effect.flatMap(open(path, "regtest"), (file) => file.backup(destination)))
