import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { DEFAULT_LIMITS } from "../../../src/mail/relay/RelayConfig.ts"
import { mailCommand } from "../../../src/programs/mail/commands.ts"
import { type MailSettings, mailSettings, type ServeFlags } from "../../../src/programs/mail/settings.ts"
import { run } from "../../../src/programs/tool/run.ts"
import { inputOf } from "../../config/input.ts"

const unused = () => Effect.dieMessage("only serve is run")

/** The settings of `serve` with these flags, from the command that @effect/cli parses. */
const settings = (
  line: string,
  sources: NonNullable<Parameters<typeof inputOf>[1]> = {},
  hostname = "Relay.example.org"
): MailSettings => {
  const seen: Array<MailSettings> = []
  const argv = `serve ${line}`.trim().split(" ")
  const serve = (flags: ServeFlags) =>
    Effect.map(mailSettings(flags, { ...inputOf([], sources), hostname }), (found) => void seen.push(found))
  const outcome = Effect.runSync(run({
    name: "svcd-mail",
    version: "9.9.9",
    argv,
    about: "",
    notes: "",
    repeatsWords: true,
    allowsEmpty: false,
    command: mailCommand({ register: unused, update: unused, lookup: unused, serve })
  }))
  const [found] = seen
  if (found === undefined) throw new Error(outcome.stderr)
  return found
}

describe("the settings of svcd-mail serve", () => {
  it("have defaults for all but the upstream server", () => {
    const { connection, log, metrics, namespace, relay } = settings("--upstream mx.example.net")
    assert.deepInclude(relay, {
      listen: { host: "127.0.0.1", port: 2525 },
      upstream: { host: "mx.example.net", port: 25 },
      credentials: undefined,
      upstreamTls: "opportunistic",
      tls: undefined,
      domains: ["bit"],
      hostname: "relay.example.org",
      senderDomain: "relay.example.org",
      postmaster: undefined,
      spoolDirectory: "/home/me/.svcd/mail",
      limits: DEFAULT_LIMITS
    })
    assert.strictEqual(Duration.toDays(relay.retry.giveUpAfter), 5)
    assert.strictEqual(namespace, "id/")
    assert.strictEqual(metrics, undefined)
    assert.deepStrictEqual(log, { format: "text", level: "info", debugSubsystems: [] })
    assert.strictEqual(connection.rpc.port, 8336)
  })

  it("can all be set by flags", () => {
    const flags =
      "--listen :25 --upstream ::1 --upstreamport 587 --upstreamtls required --domain Bit --domain mail.example " +
      "--hostname mx.example --senderdomain srs.example --postmaster me@example.org --spool var/spool --namespace mail " +
      "--maxsize 1000 --maxrecipients 2 --maxconnections 3 --maxclientconnections 4 --clientrate -1 " +
      "--maxspoolmessages 5 --maxspoolsize 6 --upstreamconnections 7 --giveupafter 8 --metricsaddr 127.0.0.1:9 " +
      "-loglevel debug -logformat json -debugsubsystem mail"
    const { log, metrics, namespace, relay } = settings(flags.replace("--upstream ::1", "--upstream=[::1]"))
    assert.deepInclude(relay, {
      listen: { host: "", port: 25 },
      upstream: { host: "::1", port: 587 },
      upstreamTls: "required",
      domains: ["bit", "mail.example"],
      hostname: "mx.example",
      senderDomain: "srs.example",
      postmaster: "me@example.org",
      spoolDirectory: "/place/var/spool"
    })
    assert.deepInclude(relay.limits, {
      messageSize: 1000,
      recipients: 2,
      connections: 3,
      connectionsPerClient: 4,
      messagesPerMinute: -1,
      spoolMessages: 5,
      spoolBytes: 6,
      upstreamConnections: 7
    })
    assert.strictEqual(Duration.toHours(relay.retry.giveUpAfter), 8)
    assert.deepStrictEqual(metrics, { host: "127.0.0.1", port: 9 })
    assert.strictEqual(namespace, "mail/")
    assert.deepStrictEqual(log, { format: "json", level: "debug", debugSubsystems: ["mail"] })
  })

  it("read the password from the flag, the environment or a file", () => {
    const env = { SVCD_MAIL_SMTP_PASSWORD: "of the environment" }
    const files = { "/place/pass": "of the file\r\nsomething else\n" }
    const password = (line: string, sources: Parameters<typeof settings>[1]) => {
      const { credentials } = settings(`--upstream mx.example.net --smtpuser me ${line}`, sources).relay
      return credentials === undefined ? undefined : [credentials.user, Redacted.value(credentials.password)]
    }
    assert.deepStrictEqual(password("--smtppass flag", { env }), ["me", "flag"])
    assert.deepStrictEqual(password("", { env }), ["me", "of the environment"])
    assert.deepStrictEqual(password("--smtppassfile pass", { env, files }), ["me", "of the file"])
  })

  it("use implicit TLS on port 465", () => {
    assert.strictEqual(settings("--upstream mx.example.net --upstreamport 465").relay.upstreamTls, "implicit")
    assert.strictEqual(
      settings("--upstream mx.example.net --upstreamport 465 --upstreamtls opportunistic").relay.upstreamTls,
      "opportunistic"
    )
  })

  it("put the spool into the data directory, whatever its source", () => {
    assert.strictEqual(settings("--upstream a -datadir /var/svcd").relay.spoolDirectory, "/var/svcd/mail")
    assert.strictEqual(
      settings("--upstream a", { env: { SVCD_DATA_DIR: "/env/svcd" } }).relay.spoolDirectory,
      "/env/svcd/mail"
    )
    assert.strictEqual(settings("--upstream a --spool ~/spool").relay.spoolDirectory, "/home/me/spool")
  })

  it("use connection and log of the daemon's file, but not its metrics", () => {
    const file = "rpcaddr = \"127.0.0.1:5\"\nlogformat = \"json\"\nmetricsaddr = \"127.0.0.1:9100\"\n"
    const { connection, log, metrics } = settings("--upstream a", { files: { "/home/me/.svcd/svcd.conf": file } })
    assert.strictEqual(connection.rpc.port, 5)
    assert.strictEqual(log.format, "json")
    assert.strictEqual(metrics, undefined)
  })

  it("use the log of svcd.conf in -datadir, unless a flag says otherwise", () => {
    const files = { "/var/svcd/svcd.conf": "loglevel = \"debug\"\nlogformat = \"json\"\ndebugsubsystem = [\"mail\"]\n" }
    const logOf = (line: string) => settings(`--upstream a ${line}`.trim(), { files }).log
    assert.deepStrictEqual(logOf("-datadir /var/svcd"), { format: "json", level: "debug", debugSubsystems: ["mail"] })
    assert.strictEqual(logOf("-datadir /var/svcd -loglevel warn").level, "warn")
    assert.deepStrictEqual(logOf(""), { format: "text", level: "info", debugSubsystems: [] })
  })

  it("ignore a host name that is invalid in a greeting", () => {
    assert.strictEqual(settings("--upstream a", {}, "my_machine").relay.hostname, "localhost")
    assert.strictEqual(settings("--upstream a", {}, "").relay.hostname, "localhost")
  })
})
