import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Schedule, Schema, Scope } from "effect"
import { execFile, execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { TEST_CERTIFICATE, TEST_KEY } from "../support/certificate.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { freePort, program, run, start, startNode } from "../support/daemon.ts"
import { testUpstream } from "../support/smtp.ts"

/** From an empty wallet to a mail that arrives: the programs of the build, and mail clients from Debian. */

/** Blocks from a NAME_NEW to the first that may hold its NAME_FIRSTUPDATE, and until the first coins can be spent. */
const DEPTH = 12
const MATURE = 101

const PASSWORD = "s3cret pass"

/** The answer of name_new. */
const Commitment = Schema.parseJson(Schema.Tuple(Schema.String.pipe(Schema.length(64)), Schema.String))

const LETTER = "From: Sender <sender@example.org>\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nHello\n.dot\n"

const isInstalled = (program: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

const execute = promisify(execFile)

/** Runs a program with a text on standard input; its failure shows its output. */
const tell = async (program: string, args: ReadonlyArray<string>, input = ""): Promise<string> => {
  const running = execute(program, [...args], { timeout: 20_000 })
  running.child.stdin?.end(input)
  return (await running).stdout
}

/** Runs the command line number `at` that a tool printed, with the placeholders filled in, as a user would. */
const follow = async (printed: string, at: number, filled: Readonly<Record<string, string>> = {}): Promise<string> => {
  const lines = printed.split("\n").filter((line) => line.startsWith("svcd-cli "))
  const line = Object.entries(filled).reduce((text, [word, value]) => text.replace(word, value), lines[at] ?? "exit 9")
  const call = line.replace("svcd-cli", `'${process.execPath}' '${program("svcd-cli")}'`)
  // The command update asks, and here is nobody to answer.
  return await tell("/bin/sh", ["-c", line.includes(" update ") ? `${call} -yes` : call])
}

/**
 * A node with the name id/alice, registered by the two calls that Namecoin Core has too, a relay that asks it, and the
 * server that the relay hands mail to.
 */
const makePlace = Effect.gen(function*() {
  const node = yield* startNode(yield* temporaryDirectory)
  yield* node.ready
  const address = yield* node.call("getnewaddress")
  const mine = (count: number) => node.call("generatetoaddress", count, address)
  yield* mine(MATURE)

  const daemon = ["-network", "regtest", "-rpcaddr", `127.0.0.1:${node.port}`]
  const prepared = yield* run("svcd-mail", "register", "alice", "--forward", "o'alice@example.org", ...daemon)
  assert.strictEqual(prepared.code, 0, prepared.stderr)
  const [txid, rand] = yield* Schema.decode(Commitment)(yield* Effect.promise(() => follow(prepared.stdout, 2)))
  yield* mine(DEPTH)
  yield* Effect.promise(() => follow(prepared.stdout, 3, { TXID: txid, RAND: rand }))
  yield* mine(1)

  const upstream = yield* testUpstream({ login: ["relay", PASSWORD] })
  const directory = yield* temporaryDirectory
  const [port, metricsPort] = [yield* freePort, yield* freePort]
  const files = { tlscert: TEST_CERTIFICATE, tlskey: TEST_KEY }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const relay = yield* start("svcd-mail", [
    "serve",
    "--listen",
    `127.0.0.1:${port}`,
    "--upstream=127.0.0.1",
    `-upstreamport=${upstream.port}`,
    "--smtpuser",
    "relay",
    "--smtppass",
    PASSWORD,
    "--tlscert",
    join(directory, "tlscert"),
    "--tlskey",
    join(directory, "tlskey"),
    "-metricsaddr",
    `127.0.0.1:${metricsPort}`,
    "-datadir",
    directory,
    "-logformat",
    "json",
    ...daemon
  ])
  const says = (text: string) =>
    Effect.suspend(() =>
      relay.child.exitCode === null ? Effect.succeed(relay.stdout) : Effect.dieMessage(`it ended: ${relay.stderr}`)
    ).pipe(
      Effect.filterOrFail((stdout) => stdout.includes(text)),
      Effect.retry(Schedule.spaced("20 millis")),
      Effect.timeout("20 seconds")
    )
  yield* says("mail relay forwards")
  return { daemon, directory, metricsPort, mine, node, port, relay, upstream }
})

type Place = Effect.Effect.Success<typeof makePlace>

const scope = Effect.runSync(Scope.make())
let place: Place | undefined

beforeAll(async () => {
  place = await Effect.runPromise(Scope.extend(makePlace, scope))
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const made = (): Place => {
  assert.isDefined(place)
  return place
}

/** The next message that arrives at the upstream server once `send` has sent it. */
const arriving = async (send: () => Promise<unknown>) => {
  const { upstream } = made()
  const before = upstream.messages.length
  await send()
  const message = (await upstream.received(before + 1))[before]
  assert.isDefined(message)
  return message
}

describe("mail to a name", () => {
  it("is registered by the commands that svcd-mail prints, on the network of the daemon", async () => {
    const { node } = made()
    const address = `127.0.0.1:${node.port}`
    const shown = await Effect.runPromise(run("svcd-mail", "lookup", "Alice", "--json", "-rpcaddr", address))
    assert.strictEqual(shown.code, 0, shown.stderr)
    const { email, name, synced } = JSON.parse(shown.stdout)
    assert.deepStrictEqual([name, email, synced], ["id/alice", "o'alice@example.org", true])
  })

  it.skipIf(!isInstalled("swaks"))("arrives from swaks, by way of a server that asks for a password", async () => {
    const { port, upstream } = made()
    const letter = ["--from", "sender@example.org", "--to", "alice@bit", "--header", "Subject: from swaks"]
    const message = await arriving(() =>
      tell("swaks", ["--server", `127.0.0.1:${port}`, "--ehlo", "client.example", ...letter])
    )
    assert.deepStrictEqual(message.to, ["o'alice@example.org"])
    assert.match(message.from, /^SRS0=/)
    assert.match(message.text, /^Received: from client\.example [^]*^Subject: from swaks\r$/m)
    assert.match(message.text, /^This is a test mailing\r$/m)
    assert.deepStrictEqual([...new Set(upstream.logins)], [`relay:${PASSWORD}`])
  })

  it.skipIf(!isInstalled("swaks"))("is refused to swaks where there is no such name", async () => {
    const { port } = made()
    const args = [
      "--server",
      `127.0.0.1:${port}`,
      "--ehlo",
      "client.example",
      "--from",
      "a@b.example",
      "--to",
      "no@bit"
    ]
    // 24: no recipient was taken.
    await tell("swaks", args).then(
      () => assert.fail("it was taken"),
      (error: { readonly code?: number; readonly stdout?: string }) => {
        assert.strictEqual(error.code, 24)
        assert.match(error.stdout ?? "", /^<\*\* 550 5\.1\.1 /m)
      }
    )
  })

  it.skipIf(!isInstalled("msmtp"))("arrives from msmtp, word by word, in plain text and with STARTTLS", async () => {
    const { directory, port } = made()
    const tls = ["--tls=on", "--tls-starttls=on", `--tls-trust-file=${join(directory, "tlscert")}`]
    for (const [more, protocol] of [[[], "ESMTP"], [tls, "ESMTPS"]] as const) {
      const args = ["--host=127.0.0.1", `--port=${port}`, "--from=sender@example.org", ...more, "alice@bit"]
      const message = await arriving(() => tell("msmtp", args, LETTER))
      assert.deepStrictEqual(message.to, ["o'alice@example.org"])
      assert.isTrue(message.text.endsWith(LETTER.replaceAll("\n", "\r\n")), message.text)
      assert.match(message.text, new RegExp(`with ${protocol} id`))
    }
  })

  it("is changed by the command that svcd-mail update prints", async () => {
    const { daemon, mine, node } = made()
    const flags = ["--forward", "new@example.org", "--backup", "b@example.net"]
    const prepared = await Effect.runPromise(run("svcd-mail", "update", "alice", ...flags, ...daemon))
    await follow(prepared.stdout, 0)
    await Effect.runPromise(mine(1))
    const shown = await Effect.runPromise(node.call("name_show", "id/alice"))
    const value = "{\"email\":\"new@example.org\",\"backup\":[\"b@example.net\"],\"pubkey\":\"\"}"
    assert.deepInclude(shown, { value })
    assert.isTrue(prepared.stdout.startsWith(`${value}\n`))
  })

  it("is counted, logged and kept secret, and ends when it is told to", async () => {
    const { metricsPort, relay } = made()
    const exposed = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const hasSent = isInstalled("swaks") || isInstalled("msmtp")
    assert.match(
      exposed,
      hasSent ? /^svcd_mail_messages_accepted_total [1-9]/m : /^svcd_mail_messages_accepted_total 0$/m
    )
    assert.match(exposed, /^svcd_mail_upstream_reachable 1$/m)
    if (process.platform === "linux") {
      const shown = readFileSync(`/proc/${relay.child.pid}/cmdline`, "latin1")
      assert.match(shown, /^svcd-mail\0*$/)
    }
    const { code, signal, stderr, stdout } = await Effect.runPromise(relay.end())
    assert.deepStrictEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: "" })
    for (const line of stdout.trimEnd().split("\n")) {
      const { level, msg, subsystem } = JSON.parse(line)
      assert.include(["info", "debug"], level, line)
      assert.isString(msg)
      assert.include(["mail", "metrics"], subsystem, line)
    }
    assert.notInclude(stdout, PASSWORD)
    assert.notInclude(stdout, "Hello")
  })
})
