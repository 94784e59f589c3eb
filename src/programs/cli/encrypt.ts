import * as Effect from "effect/Effect"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import type { OwnContext } from "./commandContext.ts"
import type { Daemon } from "./daemon.ts"
import { at, indented, numberAt, objectOf } from "./jsonText.ts"
import { type CliOutcome, CommandFailed, success } from "./outcome.ts"
import { chosenPassphrase, withPassphrase } from "./passphrase.ts"
import { notEncrypted } from "./unlock.ts"

/** `svcd-cli encrypt`: a passphrase for the wallet, or another one. */

const encrypted = ({ cli }: Pick<Daemon, "cli">): string =>
  `The wallet is encrypted, and locked.
- Write the passphrase down, apart from the seed phrase. Without the passphrase, only the seed phrase brings back your
  coins and names. Without either, nothing does.
- While it is locked, it renews no names: "${cli} unlock -renewals" lets it.
- Earlier copies of its file are not encrypted. Destroy them, and make a new one: "${cli} backup FILE"
`

const changed = ({ cli }: Pick<Daemon, "cli">): string =>
  `The wallet has the new passphrase.
- Earlier copies of its file open with the old one. Destroy them, and make a new one: "${cli} backup FILE"
`

const already = ({ cli }: Pick<Daemon, "cli">): CommandFailed =>
  new CommandFailed({
    message: "the wallet is encrypted already",
    remedy: `"${cli} encrypt -change" replaces its passphrase, "${cli} unlock" unlocks it`
  })

const WATCHES = new CommandFailed({
  message: "the wallet is watch-only: it has no private keys to encrypt"
})

export const encryptCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const change = line.wants("change")
    const wallet = yield* daemon.ask("getwalletinfo")
    const isEncrypted = numberAt(wallet, "unlocked_until") !== undefined
    if (at(wallet, "private_keys_enabled") === false) return yield* WATCHES
    if (change !== isEncrypted) return yield* (change ? notEncrypted : already)(daemon)
    const passphrase = yield* chosenPassphrase(input)
    yield* change
      ? withPassphrase(input, (old) => daemon.call("walletpassphrasechange", [old, passphrase]))
      : daemon.call("encryptwallet", [passphrase])
    if (line.wants("json")) return success(`${indented(objectOf({ encrypted: true }))}\n`)
    return success((change ? changed : encrypted)(daemon))
  })
