import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { withDirectory } from "../support/temporary.ts"

const ROOT = fileURLToPath(new URL("../../", import.meta.url))

const Entry = Schema.Struct({
  name: Schema.optional(Schema.String),
  version: Schema.optional(Schema.String),
  resolved: Schema.optional(Schema.String),
  integrity: Schema.optional(Schema.String),
  dev: Schema.optional(Schema.Boolean),
  optional: Schema.optional(Schema.Boolean),
  dependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String })),
  devDependencies: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})
const Lock = Schema.Struct({ packages: Schema.Record({ key: Schema.String, value: Entry }) })
const Texts = Schema.Record({ key: Schema.String, value: Schema.String })
const bySystem = <A, I>(value: Schema.Schema<A, I>) => Schema.Record({ key: Schema.String, value })

const Unit = Schema.Struct({
  script: Schema.String,
  preStart: Schema.String,
  serviceConfig: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})

const Flake = Schema.Struct({
  systems: Schema.Array(Schema.String),
  packages: bySystem(Schema.Struct({
    pname: Schema.String,
    version: Schema.String,
    lock: Lock,
    tarballs: Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ outputHash: Schema.String, outputHashMode: Schema.String, buildPhase: Schema.String })
    }),
    project: Schema.Struct({ dependencies: Texts, devDependencies: Texts })
  })),
  apps: bySystem(Texts),
  shells: bySystem(Schema.Array(Schema.String)),
  checks: bySystem(Texts)
})

const Service = Schema.Struct({
  settings: Schema.Record({ key: Schema.String, value: Schema.Unknown }),
  failures: Schema.Array(Schema.String),
  unit: Schema.NullOr(Unit),
  ports: Schema.NullOr(Schema.Array(Schema.Number)),
  rules: Schema.NullOr(Schema.Array(Schema.String))
})

/** Evaluates an attribute of evaluate.nix, in a store of its own. */
const evaluate = (attribute: string, service: unknown = {}) =>
  withDirectory((directory) => {
    const flags = ["--eval", "--strict", "--json", "test/packaging/evaluate.nix", "--attr", attribute]
    return spawnSync("nix-instantiate", [...flags, "--argstr", "service", JSON.stringify(service)], {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 2 ** 26,
      env: {
        ...process.env,
        NIX_STORE_DIR: join(directory, "store"),
        NIX_STATE_DIR: join(directory, "state"),
        NIX_LOG_DIR: join(directory, "log"),
        NIX_CONF_DIR: join(directory, "conf"),
        NIX_REMOTE: ""
      }
    })
  })

const evaluated = <A, I>(schema: Schema.Schema<A, I>, attribute: string, service?: unknown): A => {
  const { status, stderr, stdout } = evaluate(attribute, service)
  if (status !== 0) throw new Error(stderr)
  return Schema.decodeUnknownSync(Schema.parseJson(schema))(stdout)
}

/** The unit and the rules that the module makes from definitions of services.svcd. */
const serviceOf = (definitions: unknown) => evaluated(Service, "service", definitions)

/** The assignments of the section [Service] of a unit file; those that are given twice, as a list. */
const serviceSection = (text: string) => {
  const section = /\[Service\]\n([^]*?)\n\[/.exec(text)?.[1] ?? ""
  const found = new Map<string, Array<string>>()
  for (const [, key = "", value = ""] of section.matchAll(/^([A-Za-z]+)=(.*)$/gm)) {
    found.set(key, [...found.get(key) ?? [], value])
  }
  return found
}

const manifest: unknown = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))
const { bin, version } = Schema.decodeUnknownSync(Schema.Struct({ version: Schema.String, bin: Texts }))(manifest)
const programs = Object.keys(bin).sort()

/** An import of a package in a source file, other than one of types alone. */
const IMPORT = /^import (?!type )[^"]*"((?!node:)[^.][^"]*)"/gm

const hasNix = spawnSync("nix-instantiate", ["--version"]).status === 0

describe.skipIf(!hasNix)("flake.nix, evaluated with Nix", () => {
  let flake: typeof Flake.Type

  beforeAll(() => {
    flake = evaluated(Flake, "flake")
  })

  it("has the package, an app for every program, a shell and checks, for four systems", () => {
    assert.deepStrictEqual(flake.systems, ["aarch64-darwin", "aarch64-linux", "x86_64-darwin", "x86_64-linux"])
    for (const system of flake.systems) {
      const { pname, version: built } = flake.packages[system] ?? {}
      assert.strictEqual(`${pname} ${built}`, `svcd ${version}`)
      const apps = flake.apps[system] ?? {}
      assert.deepStrictEqual(Object.keys(apps).sort(), ["default", ...programs].sort())
      for (const program of programs) assert.match(apps[program] ?? "", new RegExp(`^app .*/bin/${program}$`))
      assert.strictEqual(apps["default"], apps["svcd"])
      assert.includeMembers([...flake.shells[system] ?? []], ["nodejs", "python3"])
      const checks = system.endsWith("linux") ? ["package", "service"] : ["package"]
      assert.deepStrictEqual(Object.keys(flake.checks[system] ?? {}), checks)
    }
  })

  it("fetches each package that is installed by the hash in package-lock.json, and nothing else", () => {
    const lock = Schema.decodeUnknownSync(Schema.parseJson(Lock))(
      readFileSync(join(ROOT, "package-lock.json"), "utf8")
    )
    for (const [system, { lock: offline, tarballs }] of Object.entries(flake.packages)) {
      for (const [path, entry] of Object.entries(lock.packages)) {
        const kept = offline.packages[path]
        if (path === "") assert.isUndefined(kept?.resolved)
        else if (entry.dev !== true && entry.optional !== true) {
          assert.match(kept?.resolved ?? "", /^file:\/nix\/store\/.*\.tgz$/, `${system} ${path}`)
          const { buildPhase = "", outputHash, outputHashMode } = tarballs[path] ?? {}
          assert.strictEqual(outputHash, entry.integrity, path)
          assert.strictEqual(outputHashMode, "flat")
          const name = entry.name ?? path.slice(path.lastIndexOf("node_modules/") + 13)
          assert.include(buildPhase, ` '${name}@${entry.version}'`)
        } else if (entry.dev !== true) assert.isUndefined(kept?.resolved, `${system} ${path}`)
      }
      assert.isUndefined(offline.packages["node_modules/vitest"])
      assert.isDefined(offline.packages["node_modules/typescript"]?.resolved)
    }
  })

  it("keeps what the programs load, which starts unbundled there", () => {
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts")
    )
    const imported = new Set(
      files.flatMap((file) => [...readFileSync(join(ROOT, "src", file), "utf8").matchAll(IMPORT)])
        .map(([, target = ""]) => target.split("/").slice(0, target.startsWith("@") ? 2 : 1).join("/"))
    )
    assert.includeMembers([...imported], ["effect", "@effect/sql", "smtp-server"])
    for (const [system, { lock, project }] of Object.entries(flake.packages)) {
      assert.includeMembers(Object.keys(project.dependencies), [...imported], system)
      for (const name of Object.keys(project.dependencies)) {
        const { dev, resolved } = lock.packages[`node_modules/${name}`] ?? {}
        assert.isUndefined(dev, name)
        assert.isDefined(resolved, name)
      }
    }
  })

  it("has all dependencies of its packages in the lock", () => {
    for (const { lock, project } of Object.values(flake.packages)) {
      const isThere = (from: string, name: string) => {
        for (let folder = from;; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
          if (lock.packages[`${folder}${folder === "" ? "" : "/"}node_modules/${name}`] !== undefined) return true
          if (folder === "") return false
        }
      }
      for (const [path, { dependencies = {} }] of Object.entries(lock.packages)) {
        for (const name of Object.keys(dependencies)) assert.isTrue(isThere(path, name), `${path} needs ${name}`)
      }
      const root = lock.packages[""]
      assert.deepStrictEqual(root?.dependencies, project.dependencies)
      assert.deepStrictEqual(root?.devDependencies, project.devDependencies)
      for (const name of Object.keys(project.devDependencies)) assert.isTrue(isThere("", name), name)
    }
  })
})

describe.skipIf(!hasNix)("the NixOS module, evaluated with Nix", () => {
  it("is in the virtual machine of the checks", () => {
    const machine = evaluated(Schema.Unknown, "virtualMachine")
    const { failures, settings } = serviceOf(machine)
    assert.deepStrictEqual(failures, [])
    assert.strictEqual(settings["network"], "regtest")
  })

  it("does nothing unless it is enabled", () => {
    assert.isNull(serviceOf({}).unit)
  })

  it("runs svcd as contrib/systemd does", () => {
    const { failures, ports, rules, settings, unit } = serviceOf({ enable: true })
    assert.deepStrictEqual(failures, [])
    assert.deepStrictEqual(settings, { network: "mainnet", rpcaddr: "127.0.0.1:8336", listen: ":8334" })
    assert.isNull(ports)
    assert.isNull(rules)
    assert.match(unit?.script ?? "", /^\s*exec \S+\/bin\/svcd -datadir '\/var\/lib\/svcd'\s*$/)
    assert.match(unit?.preStart ?? "", /ln -sfn \/nix\/store\/svcd\.conf '\/var\/lib\/svcd\/svcd\.conf'/)
    const expected = serviceSection(readFileSync(join(ROOT, "contrib/systemd/svcd.service"), "utf8"))
    for (const key of ["ExecStart", "EnvironmentFile"]) expected.delete(key)
    const actual = Object.entries(unit?.serviceConfig ?? {})
    assert.deepStrictEqual(actual.map(([key]) => key).sort(), [...expected.keys()].sort())
    for (const [key, value] of actual) {
      const texts = (Array.isArray(value) ? value : [value]).map((text) =>
        String(text).replace(/^.*\/bin\/kill/, "kill")
      )
      assert.deepStrictEqual(texts, expected.get(key), key)
    }
  })

  it("passes settings on, and the password by systemd alone", () => {
    const { settings, unit, ports } = serviceOf({
      enable: true,
      network: "testnet",
      dataDir: "/var/lib/names",
      listen: "0.0.0.0:18334",
      openFirewall: true,
      metricsAddress: "127.0.0.1:9332",
      rpc: { address: "192.0.2.7:18336", user: "alice", passwordFile: "/run/secrets/password" },
      settings: { txindex: true, database: { pagesize: 16384 } }
    })
    assert.deepStrictEqual(settings, {
      network: "testnet",
      rpcaddr: "192.0.2.7:18336",
      rpcuser: "alice",
      listen: "0.0.0.0:18334",
      metricsaddr: "127.0.0.1:9332",
      txindex: true,
      database: { pagesize: 16384 }
    })
    assert.deepStrictEqual(ports, [18334])
    assert.strictEqual(unit?.serviceConfig["StateDirectory"], "names")
    assert.deepStrictEqual(unit?.serviceConfig["LoadCredential"], ["rpcpassword:/run/secrets/password"])
    assert.match(unit?.script ?? "", /SVCD_RPC_PASSWORD=\$\(cat "\$CREDENTIALS_DIRECTORY\/rpcpassword"\)/)
  })

  it("makes a data directory elsewhere, and opens no port without a listener", () => {
    const elsewhere = serviceOf({ enable: true, dataDir: "/srv/svcd", openFirewall: true, settings: { maxpeers: 0 } })
    assert.deepStrictEqual(elsewhere.rules, ["d /srv/svcd 0700 svcd svcd -"])
    assert.deepStrictEqual(elsewhere.unit?.serviceConfig["ReadWritePaths"], ["/srv/svcd"])
    assert.notProperty(elsewhere.unit?.serviceConfig ?? {}, "StateDirectory")
    assert.isNull(elsewhere.ports)
    const silent = serviceOf({ enable: true, listen: null, openFirewall: true })
    assert.isNull(silent.ports)
    assert.strictEqual(silent.settings["listen"], "")
  })

  it("refuses settings that would expose RPC or put secrets into the store", () => {
    const failures = (definitions: object) => serviceOf({ enable: true, ...definitions }).failures.join("\n")
    assert.match(failures({ rpc: { user: "alice" } }), /user and passwordFile go together/)
    assert.match(failures({ rpc: { passwordFile: "/run/p" } }), /user and passwordFile go together/)
    for (const address of [":8336", "192.0.2.7:8336"]) {
      assert.strictEqual(failures({ rpc: { address } }), "", "the cookie protects it")
      const open = failures({ rpc: { address }, settings: { rpccookiefile: "" } })
      assert.include(open, `other machines can reach ${address}`)
    }
    const insecure = { rpccookiefile: "", rpcallowinsecure: true }
    assert.strictEqual(failures({ rpc: { address: ":8336" }, settings: insecure }), "")
    for (const address of ["127.0.0.2:1", "[::1]:8336", "localhost:8336"]) {
      assert.strictEqual(failures({ rpc: { address }, settings: { rpccookiefile: "" } }), "", address)
    }
    assert.match(failures({ settings: { rpcpassword: "secret" } }), /would be in the Nix store/)
    assert.match(failures({ settings: { datadir: "/srv" } }), /use services\.svcd\.dataDir/)
  })

  it("refuses values of the wrong type", () => {
    for (const wrong of [{ network: "signet" }, { dataDir: "names" }, { listen: "8334" }, { rpc: { user: "a:b" } }]) {
      const { stderr } = evaluate("service", { enable: true, ...wrong })
      assert.match(stderr, new RegExp(`services\\.svcd\\.(rpc\\.)?\\w+ has the wrong type`), JSON.stringify(wrong))
    }
  })
})

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0

const units = readdirSync(join(ROOT, "contrib/systemd")).filter((name) => name.endsWith(".service"))

describe("contrib/systemd", () => {
  const textOf = (name: string): string => readFileSync(join(ROOT, "contrib/systemd", name), "utf8")

  it.each(units.filter((unit) => unit !== "svcd.service"))(
    "%s runs as a user of its own, and does not see the wallets",
    (unit) => {
      const text = textOf(unit).replaceAll(/^#.*$/gm, "")
      const name = unit.replace(".service", "")
      assert.isTrue(text.includes("DynamicUser=true") || text.includes(`\nUser=${name}\nGroup=${name}\n`), text)
      assert.notMatch(text, /\/var\/lib\/svcd(?!-)/)
      assert.include(text, `\nStateDirectory=${name}\n`)
    }
  )

  it("has a user with a directory of its own for every unit without one that exists while it runs", () => {
    const users = [...textOf("svcd.sysusers").matchAll(/^u (\S+) - "\S+" (\S+)$/gm)].map((
      [, user, home]
    ) => [user, home])
    const wanted = units.flatMap((unit) => [...textOf(unit).matchAll(/^User=(.*)$/gm)].map(([, user]) => user ?? ""))
    assert.sameDeepMembers(users, wanted.map((user) => [user, `/var/lib/${user}`]))
    const debian = readFileSync(join(ROOT, "scripts/package/debian.mjs"), "utf8")
    assert.include(debian, `const USERS = ${JSON.stringify(wanted.toSorted()).replaceAll(",", ", ")}`)
  })
})

describe.skipIf(!hasSystemd)("contrib/systemd, read by systemd", () => {
  it.each(units)("%s is without mistakes, and tightly confined", (unit) => {
    const file = join(ROOT, "contrib/systemd", unit)
    const verify = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    // It need not be installed here.
    const complaints = verify.stderr.split("\n").filter((line) =>
      line.includes(unit) && !line.includes("not executable")
    )
    assert.deepStrictEqual(complaints, [])
    const security = spawnSync("systemd-analyze", ["security", "--offline=true", "--no-pager", file], {
      encoding: "utf8"
    })
    const level = Number(/exposure level for \S+: ([\d.]+)/.exec(security.stdout)?.[1])
    assert.isAtMost(level, 1.8, security.stdout)
  })
})
