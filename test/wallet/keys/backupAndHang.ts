import { Effect } from "effect"
import { replaceDisk, systemDisk } from "../../../src/base/disk.ts"
import { open } from "../../../src/wallet/keys/WalletFile.ts"

/**
 * Copies the wallet of the first argument to the second. It hangs once the draft of the copy is written and not yet
 * renamed, and waits to be killed there.
 */
const [path = "", destination = ""] = process.argv.slice(2)

// The note and its folder are synced first.
let syncs = 0
replaceDisk({
  ...systemDisk,
  aside: ({ later, name }) => {
    if (name !== "fsync" || ++syncs <= 2) return later()
    process.stdout.write("the draft is written\n")
    return new Promise(() => {
      setInterval(() => {}, 60_000)
    })
  }
})

void Effect.runPromise(Effect.flatMap(open(path, "regtest"), (file) => file.backup(destination)))
