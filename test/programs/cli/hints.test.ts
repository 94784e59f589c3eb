import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { COMMAND_NAMES, type CommandName } from "../../../src/programs/cli/commandTable.ts"
import { ARGUMENTS } from "../../../src/rpc/contract/arguments.ts"

/** An owner needs no method name: where a command exists, texts name the command. */

/** The methods that each command replaces for people. */
const REPLACED: Readonly<Record<CommandName, ReadonlyArray<string>>> = {
  name: [],
  register: ["name_autoregister"],
  update: ["name_update"],
  renew: ["name_renew"],
  transfer: [],
  autorenew: ["name_autorenew"],
  cancel: ["name_cancel"],
  dismiss: ["name_acknowledge"],
  names: ["name_list"],
  registrations: ["name_registrations"],
  expiring: ["name_expiring"],
  find: ["name_find"],
  dig: ["name_resolve"],
  zone: [],
  watch: [],
  receive: ["getnewaddress"],
  pay: ["sendtoaddress"],
  tx: ["gettransaction"],
  unlock: ["walletpassphrase"],
  lock: ["walletlock"],
  encrypt: ["encryptwallet", "walletpassphrasechange"],
  backup: ["backupwallet"],
  seed: ["checkrecoverywords"],
  status: ["getblockchaininfo"],
  desk: ["createdesklink"],
  doctor: [],
  peers: ["getpeerinfo"],
  webhooks: ["listwebhooks", "testwebhook"],
  dnskey: ["listdnskeys", "rolldnskey"],
  lint: [],
  proof: [],
  "verify-proof": [],
  rpcauth: []
}

const commandOf = new Map(COMMAND_NAMES.flatMap((command) => REPLACED[command].map((method) => [method, command])))

/** Names of commands that have another one now. */
const FORMER = new Map<string, CommandName>([["checkwords", "seed"]])

const METHODS = [...commandOf.keys(), ...FORMER.keys()].join("|")

/** `svcd-cli`, as the sources write it, some flags, and a method that has a command. */
const HINT = new RegExp(`(?:svcd-cli|\\$\\{(?:NAME|cli)\\})(?: -\\w+(?: [A-Z]+)?)* (${METHODS})\\b`, "g")

const files = (folder: string, end: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(end))
    .map((path) => `${folder}/${path}`)

const hintsIn = (path: string): ReadonlyArray<string> =>
  readFileSync(path, "utf8").split("\n").filter((line) => !IN_HEX.test(line)).flatMap((line) =>
    [...line.matchAll(HINT)].map(([hint, method = ""]) =>
      `${path}: ${hint}; "${commandOf.get(method) ?? FORMER.get(method)}" does it`
    )
  )

/** Names in hexadecimal digits, which no command takes. */
const IN_HEX = /\$\{(?:hex|toHex\(name\))\}/

/** Whose methods no page for people names. Other pages name methods where JSON is wanted. */
const FOR_PEOPLE = /"(?:unlock|lock|encrypt|backup|seed|autorenew|cancel)" does it$/

describe("hints", () => {
  it("name a command where one exists", () => {
    assert.deepStrictEqual(files("src", ".ts").flatMap(hintsIn), [])
  })

  it("name one on the pages too", () => {
    const pages = [...files("docs", ".md"), "README.md"].filter((path) => !path.endsWith("rpc.md"))
    assert.deepStrictEqual(pages.flatMap(hintsIn).filter((hint) => FOR_PEOPLE.test(hint)), [])
  })

  it("know the methods", () => {
    assert.deepStrictEqual([...commandOf.keys()].filter((method) => !Object.hasOwn(ARGUMENTS, method)), [])
  })
})
