#!/usr/bin/env node
import { run } from "./announcedTool.ts"

run({
  name: "svcd-wallet",
  purpose: "Looks after the wallet of a data directory while no node runs on it.",
  subCommands: {
    "recover": "make the wallet of a data directory from a mnemonic phrase",
    "import-key": "put a private key into the wallet",
    "encrypt": "encrypt the private keys of the wallet with a passphrase"
  }
})
