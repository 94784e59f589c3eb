import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { DaemonUnreachable, InvalidConfig, type OpenFailure } from "../../../src/client/errors.ts"
import { NameClient } from "../../../src/client/NameClient.ts"
import type { NameRecord } from "../../../src/client/records.ts"
import type { ConnectionSettings } from "../../../src/config/connection.ts"
import { NameExpired, NameNotFound } from "../../../src/names/errors.ts"
import { run } from "../../../src/programs/mail/program.ts"
import type { ProgramOutcome } from "../../../src/programs/tool/outcome.ts"
import { inputOf } from "../../config/input.ts"

const unused = () => Effect.dieMessage("a lookup only resolves")

/** A client that has these names; other calls are defects. */
const clientOf = (records: ReadonlyArray<NameRecord>) =>
  Layer.effect(
    NameClient,
    Effect.map(Effect.void, () => ({
      mode: "daemon" as const,
      resolveName: (name: string) => {
        const record = records.find((known) => known.name === name)
        if (record === undefined) return new NameNotFound({ requested: name })
        return record.expired ? new NameExpired({ requested: name, updateHeight: 1 }) : Effect.succeed(record)
      },
      proveName: unused,
      resolveDomain: unused,
      registerName: unused,
      updateName: unused,
      listNames: unused,
      findNames: () => Stream.die("no search"),
      changes: () => {
        throw new Error("a lookup follows nothing")
      },
      freshness: unused(),
      progress: Stream.empty,
      ready: unused,
      failure: Effect.never
    }))
  )

const record = (name: string, value: string, more: Partial<NameRecord> = {}): NameRecord => ({
  name,
  value,
  address: "",
  txid: "00".repeat(32),
  height: 1,
  expiresIn: 30,
  expired: false,
  asOf: { height: 120, synced: true, proof: "full" },
  ...more
})

const NAMES = [
  record("id/alice", "{\"email\":\"alice@example.org\",\"backup\":[\"spare@example.net\"],\"pubkey\":\"AAEC\"}"),
  record("id/bob", "{\"email\":\"bob@example.org\",\"pubkey\":\"\\u001b[31m\\nred\"}", {
    expiresIn: 1,
    asOf: { height: 9, synced: false, proof: "full" }
  }),
  record("id/dora", "{\"name\":\"Dora\"}"),
  record("id/chatty", "this is not JSON"),
  record("id/gone", "{\"email\":\"gone@example.org\"}", { expired: true, expiresIn: -1 }),
  record("d/alice", "{\"email\":\"domain@example.org\"}")
]

interface Circumstances {
  readonly env?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly names?: (connection: ConnectionSettings) => Layer.Layer<NameClient, OpenFailure>
}

const tool = (argv: ReadonlyArray<string>, { env, files, names = () => clientOf(NAMES) }: Circumstances = {}) =>
  run({
    ...inputOf(argv, { ...env === undefined ? {} : { env }, ...files === undefined ? {} : { files } }),
    // A relay that starts although its arguments should be refused writes nothing there.
    homedir: "/dev/null",
    version: "9.9.9",
    hostname: "relay.example.org",
    names
  })

const done = ({ code, stderr, stdout }: ProgramOutcome): string => {
  assert.strictEqual(code, 0, stderr)
  assert.strictEqual(stderr, "")
  return stdout
}

const refused = ({ code, stderr, stdout }: ProgramOutcome, expected: number, words: RegExp): void => {
  assert.strictEqual(code, expected, stderr)
  assert.match(stderr, words)
  assert.strictEqual(stdout, "")
  const lines = stderr.trimEnd().split("\n")
  assert.isAtMost(lines.length, 6)
  for (const line of lines) assert.match(line, /^svcd-mail: [ -~…]+$/)
}

const words = (line: string): ReadonlyArray<string> => line.split(" ")

describe("the arguments of svcd-mail", () => {
  it.effect.each<readonly [string, RegExp, ReadonlyArray<string>]>([
    ["--help", /^Usage: svcd-mail <sub-command> \[flags\]\n/, [
      "register",
      "update",
      "lookup",
      "serve --upstream HOST"
    ]],
    ["-h", /^Usage: svcd-mail </, ["--version", "--completions", "Exit status: 0; 1 "]],
    ["nonsense --help", /^Usage: svcd-mail </, ["register"]],
    ["serve -help", /^Usage: svcd-mail serve --upstream HOST \[flags\]\n/, [
      "--upstreamport N      port of the upstream server (default: 25)",
      "--rpcaddr HOST:PORT   address of the daemon (default: 127.0.0.1:8336)",
      "--loglevel",
      "environment: SVCD_MAIL_SMTP_PASSWORD"
    ]],
    ["register --forward --help --help", /^Usage: svcd-mail register <label> --forward EMAIL \[flags\]\n/, [
      "--backup EMAIL",
      "(default: id/)"
    ]]
  ])("help for %s", ([line, usage, parts]) =>
    Effect.map(tool(words(line)), (outcome) => {
      const text = done(outcome)
      assert.match(text, usage)
      for (const part of parts) assert.include(text.replaceAll(/\n {20,}/g, " "), part)
      for (const part of text.split("\n")) assert.isAtMost(part.length, 120, part)
      assert.notMatch(text, /user-defined|This (?:setting|option)|\u001b|wizard|log-level/)
    }))

  it.effect("prints its version despite other errors", () =>
    Effect.map(tool(["serve", "--listen", "nowhere", "-version"]), (outcome) => {
      assert.deepStrictEqual(outcome, { code: 0, stdout: "svcd-mail 9.9.9\n", stderr: "" })
    }))

  it.effect.each<readonly [string, RegExp]>([
    ["", /missing command/],
    ["frobnicate", /"frobnicate" is not a command; the commands are register/],
    ["registr alice", /did you mean register\?/],
    ["register --forward a@example.org", /label/],
    ["register alice", /--forward/],
    ["register alice --forward", /-forward: needs a value/],
    ["register alice --forward=", /--forward: must not be empty/],
    ["register alice --forward a@example.org --pubkey=", /--pubkey: must not be empty/],
    ["lookup alice -rpcuser= -rpcpassword x", /--rpcuser: must not be empty/],
    ["lookup alice -rpcuser me -rpcpassword=", /--rpcpassword: must not be empty/],
    ["lookup alice -rpcuser= -rpcpassword=", /--rpcuser: must not be empty/],
    ["serve --upstream host --smtpuser me --smtppass=", /--smtppass: must not be empty/],
    ["register alice --forward nowhere", /--forward: "nowhere" is not/],
    ["update alice --forward a@example.org --backup @@", /--backup: "@@" is not/],
    ["update alice --forward a@example.org --pubkey x", /--pubkey: "x" is not base64/],
    [`register alice --forward a@example.org --pubkey ${"AAAA".repeat(200)}`, /takes \d+ bytes.*room for 520/],
    ["register al!ce --forward a@example.org", /"al!ce" is not a label/],
    [`register ${"a".repeat(65)} --forward a@example.org`, /too long for a label/],
    ["register alice --forward a@example.org --frobnicate", /--frobnicate: unknown flag/],
    ["register alice --forward a@example.org --forwart b@example.org", /unknown flag; did you mean -forward\?/],
    ["register alice --forward a@example.org --json", /--json: is not a flag of register/],
    ["register alice --forward a@example.org --namespace A", /--namespace: "A" is not a namespace/],
    ["register alice --forward a@example.org -network moonnet", /-network: "moonnet"/],
    ["register alice --forward a@example.org -rpcuser me", /rpcuser.* without rpcpassword/],
    ["lookup", /label/],
    ["lookup alice --upstream host", /--upstream: is not a flag of lookup/],
    ["serve", /--upstream/],
    ["serve --upstream host:25", /--upstream: "host:25" is not a host/],
    ["serve --upstream host --upstreamport 0", /--upstreamport: "0" is not a whole number from 1 to 65535/],
    ["serve --upstream host --listen 127.0.0.1:99999", /--listen: "127.0.0.1:99999" has no port/],
    ["serve --upstream host --domain a_b", /--domain: "a_b" is not a domain/],
    ["serve --upstream host --hostname 1.2.3.4", /--hostname: "1.2.3.4" is not a domain/],
    ["serve --upstream host --postmaster me", /--postmaster: "me" is not an e-mail address/],
    ["serve --upstream host --maxsize 0", /--maxsize/],
    ["serve --upstream host --smtpuser me", /--smtpuser: requires --smtppass/],
    ["serve --upstream host --smtppass x", /--smtppass: requires --smtpuser/],
    ["serve --upstream host --smtpuser me --smtppassfile none", /--smtppassfile: \/place\/none does not exist/],
    ["serve --upstream host --smtpuser me --smtppass x --smtppassfile pass", /--smtppass: cannot be combined/],
    ["serve --upstream host --smtpuser me --smtppassfile empty", /--smtppassfile: its first line is empty/],
    ["serve --upstream host --tlscert pass", /--tlscert: requires --tlskey/],
    ["serve --upstream host --tlscert pass --tlskey pass", /--tlscert, --tlskey: these files are not PEM/],
    ["serve --upstream host --upstreamca pass", /--upstreamca: this file has no PEM certificate/],
    ["serve --upstream host --loglevel loud", /-loglevel: "loud"/]
  ])("%s is refused", ([line, message]) =>
    Effect.map(
      tool(words(line).filter((word) => word !== ""), { files: { "/place/pass": "s3cret\n", "/place/empty": "\n" } }),
      (outcome) => refused(outcome, 2, message)
    ))

  it.effect("an empty password does not replace that of the environment", () =>
    Effect.map(
      tool(["serve", "--upstream", "host", "--smtpuser", "me", "--smtppass", ""], {
        env: { SVCD_MAIL_SMTP_PASSWORD: "of the environment" }
      }),
      (outcome) => refused(outcome, 2, /--smtppass: must not be empty/)
    ))

  it.effect("does not print text that may be part of a password", () =>
    Effect.map(tool(words("serve --upstream host --smtpuser me --smtppass s3cret hunter2")), (outcome) => {
      refused(outcome, 2, /too many arguments/)
      assert.notInclude(outcome.stderr, "hunter2")
    }))

  it.effect("reports all errors in the flags of serve", () =>
    Effect.map(tool(words("serve --upstream a:b --upstreamport x --domain ä --maxsize y")), ({ stderr }) => {
      assert.deepStrictEqual(stderr.match(/--\w+/g), ["--upstream", "--upstreamport", "--domain", "--maxsize"])
    }))
})

describe("svcd-mail register and update", () => {
  it.effect("print the value, and the calls in order", () =>
    Effect.gen(function*() {
      const text = done(yield* tool(words("register Alice --forward alice@example.org")))
      const value = "{\"email\":\"alice@example.org\",\"backup\":[],\"pubkey\":\"\"}"
      const lines = text.split("\n")
      assert.strictEqual(lines[0], value)
      const commands = lines.filter((line) => line.startsWith("svcd-cli"))
      assert.deepStrictEqual(commands, [
        `svcd-cli register id/alice '${value}'`,
        "svcd-cli registrations",
        "svcd-cli name_new id/alice",
        `svcd-cli name_firstupdate id/alice RAND TXID '${value}'`
      ])
      assert.include(lines, "svcd-mail lookup Alice")
      assert.match(text, /It takes 13 blocks, about 2 hours on mainnet:/)
      assert.notInclude(text, "name_autoregister id/")
      const bodies = lines.filter((line) => line.startsWith("{\"jsonrpc\"")).map((line): unknown => JSON.parse(line))
      assert.deepStrictEqual(bodies, [
        { jsonrpc: "2.0", id: 1, method: "name_autoregister", params: ["id/alice", value] },
        { jsonrpc: "2.0", id: 1, method: "name_new", params: ["id/alice"] },
        { jsonrpc: "2.0", id: 1, method: "name_firstupdate", params: ["id/alice", "RAND", "TXID", value] }
      ])
    }))

  it.effect("name the time on the network, and the same namespace and daemon for what comes next", () =>
    Effect.gen(function*() {
      const line = "register alice --forward alice@example.org --namespace d -network regtest"
      const text = done(yield* tool(words(line)))
      assert.include(text, "It takes 13 blocks, which you mine on regtest:")
      assert.include(
        text,
        "\nsvcd-cli -network=regtest registrations\nsvcd-mail -network=regtest lookup alice --namespace d/\n"
      )
    }))

  it.effect("accept flags in any spelling and position", () =>
    Effect.gen(function*() {
      const spellings = [
        "update alice --forward a@example.org --backup b@example.net --backup c@example.net --namespace d",
        "-backup b@example.net update --namespace=d/ -forward=a@example.org alice --backup=c@example.net",
        "update --forward old@example.org --forward a@example.org alice -backup b@example.net -backup=c@example.net -namespace d"
      ]
      const texts = yield* Effect.forEach(spellings, (line) => Effect.map(tool(words(line)), done))
      assert.strictEqual(new Set(texts).size, 1)
      assert.include(
        texts[0],
        "svcd-cli update d/alice " +
          "'{\"email\":\"a@example.org\",\"backup\":[\"b@example.net\",\"c@example.net\"],\"pubkey\":\"\"}'"
      )
    }))

  it.effect("keep what the name says besides, where the daemon knows it", () =>
    Effect.gen(function*() {
      const [kept] = done(yield* tool(words("update alice --forward new@example.org"))).split("\n")
      assert.strictEqual(
        kept,
        "{\"email\":\"new@example.org\",\"backup\":[\"spare@example.net\"],\"pubkey\":\"AAEC\"}"
      )
      const rich = yield* tool(words("update dora --forward new@example.org --backup b@example.org"))
      assert.deepStrictEqual(JSON.parse(done(rich).split("\n")[0] ?? ""), {
        name: "Dora",
        email: "new@example.org",
        backup: ["b@example.org"],
        pubkey: ""
      })
      assert.include(done(rich), "The other items of the value stay as they are.")
      const alone = done(yield* tool(words("update absent --forward new@example.org")))
      assert.include(alone, "replaces the whole current value")
    }))

  it.effect("print commands for the same daemon, without its password", () =>
    Effect.gen(function*() {
      const flags = "-network regtest -rpcaddr 127.0.0.1:5 -rpcuser me -rpcpassword s3cret"
      const text = done(yield* tool(words(`update alice --forward a@example.org ${flags}`)))
      assert.include(text, "svcd-cli -network=regtest -rpcaddr=127.0.0.1:5 -rpcuser=me update id/alice '{")
      assert.notInclude(text, "s3cret")
    }))

  it.effect("print commands quoted for a shell", () =>
    Effect.gen(function*() {
      const argv = ["update", "alice", "--forward", "o'$(id)`id`\\\"!@example.org"]
      refused(yield* tool(argv), 2, /--forward/)
      const text = done(
        yield* tool(["update", "alice", "--forward", "o'$`{id}`#&*@example.org", "-datadir", "/a b/$x"])
      )
      const [command = ""] = text.split("\n").filter((line) => line.startsWith("svcd-cli"))
      const seen = execFileSync("/bin/sh", ["-c", command.replace("svcd-cli", "printf '%s\\n'")], { encoding: "utf8" })
      assert.deepStrictEqual(seen.trimEnd().split("\n"), [
        "-datadir=/a b/$x",
        "update",
        "id/alice",
        text.split("\n", 1)[0]
      ])
    }))
})

describe("svcd-mail lookup", () => {
  it.effect("prints the destination of mail", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        done(yield* tool(["lookup", "ALICE"])),
        "id/alice\n  email    alice@example.org\n  backup   spare@example.net\n  pubkey   AAEC\n  expires  in 30 blocks\n"
      )
      assert.include(done(yield* tool(words("lookup alice --namespace d"))), "domain@example.org")
    }))

  it.effect("prints one line of JSON", () =>
    Effect.gen(function*() {
      const text = done(yield* tool(words("lookup alice --json")))
      assert.match(text, /^.*\n$/)
      assert.deepStrictEqual(JSON.parse(text), {
        label: "alice",
        name: "id/alice",
        email: "alice@example.org",
        backup: ["spare@example.net"],
        pubkey: "AAEC",
        expiresIn: 30,
        height: 120,
        synced: true,
        proof: "full"
      })
    }))

  it.effect("marks an outdated answer, and escapes characters that move the cursor", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* tool(["lookup", "bob"])
      assert.strictEqual(code, 0)
      assert.match(stderr, /not in sync.*block 9/)
      assert.include(stdout, "pubkey   \\u001b[31m\\u000ared\n")
      assert.include(stdout, "in 1 block\n")
      assert.notMatch((yield* tool(words("lookup bob --json"))).stdout, /\u001b/)
    }))

  it.effect.each<readonly [string, RegExp]>([
    ["absent", /absent: the name id\/absent does not exist/],
    ["gone", /gone: the name id\/gone has expired/],
    ["chatty", /chatty: the value of id\/chatty has no mail address/]
  ])(
    "fails for %s",
    ([label, message]) => Effect.map(tool(["lookup", label]), (outcome) => refused(outcome, 1, message))
  )

  it.effect("fails without a daemon, and with a daemon of another network", () =>
    Effect.gen(function*() {
      const unreachable = new DaemonUnreachable({ address: "127.0.0.1:5", reason: "connection refused" })
      refused(yield* tool(["lookup", "alice"], { names: () => Layer.fail(unreachable) }), 1, /127\.0\.0\.1:5/)
      const other = new InvalidConfig({ field: "network", reason: "the daemon is on regtest, not mainnet" })
      refused(yield* tool(["lookup", "alice"], { names: () => Layer.fail(other) }), 1, /regtest, not mainnet/)
    }))

  it.effect("distinguishes a network that the user set from the default", () =>
    Effect.gen(function*() {
      const given: Array<readonly [string, boolean]> = []
      const names = (connection: ConnectionSettings) => {
        given.push([connection.network, connection.networkFrom !== undefined])
        return clientOf(NAMES)
      }
      yield* tool(["lookup", "alice"], { names })
      yield* tool(words("lookup alice -network mainnet"), { names })
      yield* tool(["lookup", "alice"], { names, env: { SVCD_NETWORK: "testnet" } })
      yield* tool(["lookup", "alice"], { names, files: { "/dev/null/.svcd/svcd.conf": "network = \"regtest\"\n" } })
      assert.deepStrictEqual(given, [["mainnet", false], ["mainnet", true], ["testnet", true], ["regtest", true]])
    }))
})
