import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { existsSync } from "node:fs"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { shownPath } from "../../base/safeText.ts"
import type { UsageError } from "../../config/UsageError.ts"
import { paramsOf } from "../../consensus/params.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { equal } from "../../protocol/bytes.ts"
import { networks } from "../../protocol/networks.ts"
import { InvalidWalletRequest } from "../../wallet/errors.ts"
import { typeProblem } from "../../wallet/keys/addresses.ts"
import { WORDS_REACH } from "../../wallet/keys/AddressUse.ts"
import { keyDescriptor, parsePrivateKey, prepareImport } from "../../wallet/keys/importDescriptor.ts"
import { KeyRing } from "../../wallet/keys/KeyRing.ts"
import { encryption, newDocument, seededDocument } from "../../wallet/keys/makeDocument.ts"
import { createMnemonic, parseMnemonic } from "../../wallet/keys/mnemonic.ts"
import {
  isPhraseKept,
  type WalletDocument,
  withPhraseChecked,
  withPhraseKept
} from "../../wallet/keys/WalletDocument.ts"
import type { AddressType } from "../../wallet/keys/WalletKeys.ts"
import { indexFileOf } from "../../wallet/ledger/openStore.ts"
import { wordsWithoutNumbers } from "../tool/phraseText.ts"
import {
  type CommandContext,
  type GivenSecret,
  givenSecret,
  newPassphrase,
  opened,
  openedForReading,
  refuseExisting,
  unlocked,
  walletPath,
  written,
  wrong
} from "./access.ts"
import { storedBalance } from "./balance.ts"
import { checkedWords, printedWords } from "./checkedWords.ts"
import { markStoredUse } from "./storedUse.ts"

/** Each sub-command locks the data directory. */

export interface Said {
  readonly result: ReadonlyArray<string>
  readonly remarks: ReadonlyArray<string>
}

const WRITE_DOWN =
  "Write these words down and keep them safe. They are your seed phrase: anyone who has them can take your coins and names."

const LOOKED =
  `svcd searches ${grouped(WORDS_REACH)} addresses beyond the last one paid, for receiving and for change, ` +
  "of each type: legacy, p2sh-segwit, bech32 and bech32m. If the wallet ran with a larger -keypool, set it again."

const OPEN = "The wallet is not encrypted, even if it was before: \"svcd-wallet encrypt\" encrypts it."

const RENEWALS_UNKNOWN = "The seed phrase does not say which names renew automatically: " +
  "\"svcd-cli autorenew -all on\" renews all of them."

const NOT_CHECKED = "You have not verified your seed phrase. Compare your paper with the words above: " +
  "after a loss of the wallet, a mistake would cost you its coins and names."

interface Password {
  readonly password: GivenSecret
}

export const createCommand = (
  context: CommandContext,
  { password, words, yes }: Password & { readonly words: "12" | "24"; readonly yes: boolean }
) =>
  Effect.gen(function*() {
    const path = yield* walletPath(context)
    yield* refuseExisting(path)
    const mnemonic = createMnemonic(words === "12" ? 12 : 24)
    const createdAt = yield* unixTime
    const { network } = context.connection
    const document = yield* seededDocument({ network, mnemonic, createdAt, birthday: createdAt })
    const { file } = yield* written(context, { path, document: withPhraseKept(document), password })
    const checked = yes ? "unasked" : yield* checkedWords(context.prompt, Redacted.value(mnemonic).split(" "))
    if (checked === "right") yield* file.update((now) => withPhraseChecked(now, createdAt))
    return {
      // The check has already shown the words, with their numbers.
      result: !yes && context.prompt.terminal?.hasResults === true
        ? []
        : [printedWords(context.prompt, Redacted.value(mnemonic))],
      remarks: [
        `The wallet is ${shownPath(path)}.`,
        ...checked === "unasked" ? [WRITE_DOWN] : checked === "right" ? [] : [NOT_CHECKED]
      ]
    }
  })

interface Recovered extends Password {
  readonly mnemonic: GivenSecret
  readonly passphrase: GivenSecret
}

export const recover = (context: CommandContext, { mnemonic: words, passphrase, password }: Recovered) =>
  Effect.gen(function*() {
    const path = yield* walletPath(context)
    yield* refuseExisting(path)
    const given = yield* givenSecret(context, { flag: "mnemonic", given: words, text: "the seed phrase of the wallet" })
    const mnemonic = yield* Either.mapLeft(
      parseMnemonic(wordsWithoutNumbers(Redacted.value(given)).join(" ")),
      ({ reason }) => wrong(`--mnemonic: ${reason}`)
    )
    const createdAt = yield* unixTime
    const document = yield* seededDocument({
      network: context.connection.network,
      mnemonic,
      passphrase: passphrase ?? Redacted.make(""),
      createdAt,
      birthday: 0
    })
    // Its owner has just entered the whole phrase.
    const checked = withPhraseChecked({ ...document, rescanFrom: 0 }, createdAt)
    const { chainstate, file } = yield* written(context, { path, document: checked, password })
    const looked = yield* Effect.either(storedBalance(chainstate, yield* KeyRing.make(file.document)))
    const found = Either.getOrUndefined(looked)
    return {
      result: [
        `The wallet was recovered: ${shownPath(path)}`,
        ...found === undefined ? [] : [
          `In the local blocks, up to ${found.height}: ${nmc(found.spendable)} spendable, ` +
          `${nmc(found.immature)} immature, ${quantityOf(found.names, "name")}.`
        ]
      ],
      remarks: [
        LOOKED,
        ...Either.isRight(looked)
          ? []
          : [`The local blocks could not be searched: ${looked.left.message}. The wallet itself is complete.`],
        "Its coins and names appear once svcd has scanned the chain.",
        ...password === undefined ? [OPEN] : [],
        RENEWALS_UNKNOWN
      ]
    }
  })

interface Imported extends Password {
  readonly privateKey: string | undefined
  readonly label: string
}

export const importKey = (context: CommandContext, { label, password, privateKey }: Imported) =>
  Effect.gen(function*() {
    const { network: name } = context.connection
    const network = networks[name]
    const path = yield* walletPath(context)
    const text = privateKey ?? (yield* context.prompt.secret("Type the private key, in wallet import format: "))
    if (text === undefined) return yield* wrong("the private key is missing: svcd-wallet import-key PRIVATE_KEY")
    const key = yield* Either.mapLeft(
      parsePrivateKey(network, text),
      ({ reason }) => wrong(`import-key: ${reason}`)
    )
    const made = !existsSync(path)
    const time = yield* unixTime
    const file = made
      ? (yield* written(context, {
        path,
        document: yield* newDocument({ network: name, now: time, privateKeys: true, blank: false }),
        password
      })).file
      : (yield* opened(context)).file
    const { sealingKey } = yield* unlocked(context, file, password)
    const { change, entry } = yield* prepareImport(file.document, {
      descriptor: keyDescriptor(network, key),
      label,
      timestamp: 0,
      active: false,
      internal: false,
      range: undefined,
      nextIndex: undefined
    }, sealingKey)
    const known = file.document.imports.some(({ descriptor }) => descriptor === entry.descriptor)
    yield* file.update((document) => ({ ...change(document), birthday: 0, rescanFrom: 0 }))
    const ring = yield* KeyRing.make(file.document, 1)
    const address = [...ring.all()].find((own) => own.type === "legacy" && own.parentDescriptor === entry.descriptor)
      ?.address
    return {
      result: [
        known ? "The wallet already had this key." : `The key was imported; its address is ${address ?? "none"}`
      ],
      remarks: [
        ...made
          ? [`A new wallet was created: ${shownPath(path)}. "svcd-wallet export --phrase" shows its seed phrase.`]
          : [],
        "Its coins and names appear once svcd has scanned the chain. The seed phrase of the wallet does not " +
        "restore this key: keep it, or a copy of the file."
      ]
    }
  })

export const encrypt = (context: CommandContext, { password }: Password) =>
  Effect.gen(function*() {
    const { file } = yield* opened(context)
    if (file.document.encryption !== undefined) {
      return yield* new InvalidWalletRequest({
        code: "already-encrypted",
        reason: "the wallet is already encrypted; while svcd runs, \"svcd-cli encrypt -change\" replaces its passphrase"
      })
    }
    const passphrase = yield* newPassphrase(context, password)
    yield* file.update(yield* encryption(file.document, passphrase))
    return {
      result: ["The wallet is encrypted."],
      remarks: [
        "Without the passphrase, no one can spend its coins, not even you: do not lose it. Earlier copies of the file " +
        "are not encrypted."
      ]
    }
  })

interface NewAddress {
  readonly type: AddressType
  readonly label: string
}

export const addressCommand = (context: CommandContext, { label, type }: NewAddress) =>
  Effect.gen(function*() {
    const problem = typeProblem(paramsOf(networks[context.connection.network]), type)
    if (problem !== undefined) return yield* problem
    const { chainstate, file } = yield* opened(context)
    const ring = yield* KeyRing.make(file.document, 1)
    yield* markStoredUse(indexFileOf(chainstate, { name: context.wallet ?? "" }), ring)
    const { change, own } = yield* ring.next(type, { change: false, knows: false })
    const shown = own.address ?? ""
    yield* file.update((document) => ({
      ...change(document),
      labels: [...document.labels, { address: shown, label, purpose: "receive" }]
    }))
    return { result: [shown], remarks: [] }
  })

const nmc = (units: number): string => `${formatAmount(units)} NMC`

export const balance = (context: CommandContext) =>
  Effect.gen(function*() {
    const { chainstate, file } = yield* opened(context)
    const ring = yield* KeyRing.make(file.document)
    const found = yield* storedBalance(chainstate, ring)
    if (found === undefined) {
      return yield* new InvalidWalletRequest({
        code: "missing",
        reason: "the data directory has no chain yet: run svcd there first"
      })
    }
    return {
      result: [
        `spendable  ${nmc(found.spendable)}`,
        `immature   ${nmc(found.immature)}`,
        `name outputs  ${found.names}`
      ],
      remarks: [`As of block ${found.height}, without unconfirmed payments.`]
    }
  })

const confirmed = ({ prompt }: CommandContext): Effect.Effect<void, UsageError> =>
  Effect.gen(function*() {
    const answer = yield* prompt.line(
      "Anyone who reads the following can take all coins and names. Type yes to show it: "
    )
    if (answer?.trim().toLowerCase() === "yes") return
    return yield* wrong("anyone who reads the secrets can take all coins and names; give --yes to show them")
  })

interface Exported extends Password {
  readonly phrase: boolean
  readonly private: boolean
  readonly yes: boolean
}

export const exportWallet = (context: CommandContext, { password, phrase, private: keys, yes }: Exported) =>
  Effect.gen(function*() {
    const { file, keep } = yield* openedForReading(context)
    if ((phrase || keys) && !yes) yield* confirmed(context)
    const secrets = phrase || keys ? yield* unlocked(context, file, password) : undefined
    if (phrase) {
      const words = secrets?.mnemonic
      if (words === undefined) {
        return yield* new InvalidWalletRequest({ code: "no-keys", reason: "this wallet has no seed phrase" })
      }
      const kept = isPhraseKept(file.document) !== false || (yield* keep(withPhraseKept))
      return {
        result: [printedWords(context.prompt, words)],
        remarks: [
          ...(yield* isWholeSeed(file.document, words))
            ? []
            : [PASSPHRASE_APART],
          ...file.document.imports.length > 0 ? [IMPORTS_APART] : [],
          ...kept ? [] : [BESIDE_NODE]
        ]
      }
    }
    const ring = yield* KeyRing.make(file.document, 1)
    return { result: ring.descriptors(secrets).map(({ descriptor }) => descriptor), remarks: [] }
  })

/** Whether the words alone give the seed, without a passphrase. */
const isWholeSeed = ({ network, seed }: WalletDocument, words: string): Effect.Effect<boolean> =>
  Effect.map(
    seededDocument({ network, mnemonic: Redacted.make(words), createdAt: 0, birthday: 0 }),
    (whole) => seed !== undefined && whole.seed !== undefined && equal(seed.fingerprint, whole.seed.fingerprint)
  )

const PASSPHRASE_APART =
  "These words restore the wallet only together with the passphrase that was set with them. If none was set, " +
  "the words in the file are damaged: compare them with your paper before you rely on them."

const BESIDE_NODE =
  "A node runs on this data directory: verify three of the words there, on the page Recovery words of the desk or with " +
  "\"svcd-cli seed check\", so that it stops reminding you."

const IMPORTS_APART = "The seed phrase does not cover imported keys: \"svcd-wallet export --private\" shows them."
