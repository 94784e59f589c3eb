// A package for Debian and Ubuntu: the same files below /usr, the user of the service, and its settings.

import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { author, commitTime, run, settle, version } from "./facts.mjs"

/** The services. None of them starts before the operator enables it. */
const SERVICES = ["svcd.service", "svcd-mail.service", "svcd-export.service"]

/** The users of services, each with /var/lib/USER for its files. svcd-mail has one that exists while it runs. */
const USERS = ["svcd", "svcd-export"]

/** The last version in which svcd-export ran as svcd. */
const SHARED_USER = "0.2.0"

/** Settings of the services, which stay as the operator changed them. They are for passwords: root alone reads them. */
const SETTINGS = {
  "etc/svcd/environment": `# SVCD_RPC_USER and SVCD_RPC_PASSWORD, where RPC is to ask for them and not for a cookie.
# All other settings: /var/lib/svcd/svcd.conf; /usr/share/doc/svcd/docs/svcd.conf.sample has all of them.
`,
  "etc/svcd/mail.environment":
    `# Flags of svcd-mail serve, such as --upstream and --hostname, and what it reads from the environment:
# SVCD_RPC_USER, SVCD_RPC_PASSWORD, SVCD_MAIL_SMTP_PASSWORD.
#SVCD_MAIL_FLAGS=--upstream mail.example.org
`,
  "etc/svcd/export.environment":
    `# A user of RPC with the right "read" and its password, unless the daemon asks for no credentials; where svcd-export writes, the
# password if PostgreSQL asks for one, and flags such as -schema: /usr/share/doc/svcd/docs/postgres.md.
#SVCD_RPC_USER=export
#SVCD_RPC_PASSWORD=
#SVCD_EXPORT_URL=postgres:///names?host=/var/run/postgresql
#PGPASSWORD=
#SVCD_EXPORT_FLAGS=
`
}

const { DEBEMAIL, DEBFULLNAME } = process.env

/** Name and address, as the tools of Debian take them from the environment. */
const maintainer = DEBFULLNAME && DEBEMAIL ? `${DEBFULLNAME} <${DEBEMAIL}>` : author

const control = (kilobytes) =>
  `Package: svcd
Version: ${version}
Section: net
Priority: optional
Architecture: amd64
Maintainer: ${maintainer}
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6, adduser
Description: Namecoin full node, wallet and mail relay
 A full node of the Namecoin network that validates every rule itself and
 answers questions about names, with a wallet that registers and renews them.
 It has its own Node.js inside. The services svcd, svcd-mail and svcd-export
 do not start before the operator enables them.
`

/**
 * Makes the users as svcd.sysusers describes them. Everything may run again. systemctl says itself what it cannot do; a service
 * that does not start must not leave the package half configured.
 */
const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  for user in ${USERS.join(" ")}; do
    getent passwd "$user" >/dev/null ||
      adduser --system --quiet --group --home "/var/lib/$user" --no-create-home --gecos "$user" "$user"
  done
  if [ -n "$2" ] && dpkg --compare-versions "$2" le ${SHARED_USER} && systemctl is-enabled svcd-export >/dev/null 2>&1; then
    echo "svcd: svcd-export runs as a user of its own now. Give it the database: /usr/share/doc/svcd/docs/postgres.md, \\"From 0.2.0\\"" >&2
  fi
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
    # Only services that run are started again, with the new version.
    if [ -n "$2" ]; then systemctl try-restart ${SERVICES.join(" ")} || true; fi
  fi
fi
`

const PRERM = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now ${SERVICES.join(" ")} || true
fi
`

/** Not even a purge deletes /var/lib/svcd: the wallet is there. */
const POSTRM = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
if [ "$1" = purge ]; then rm -rf /var/cache/svcd; fi
if [ "$1" = purge ] && [ -e /var/lib/svcd ]; then
  echo "svcd: /var/lib/svcd stays: it has the chain, and wallets. Delete it yourself if you need neither." >&2
fi
`

/** The copyright file that Debian asks for: our licence, and where those of the parts are. */
const copyright = (licence) =>
  `${licence.trim()}

The licence of Node.js, which is in /usr/lib/svcd/node, is in /usr/share/doc/svcd/LICENSE.node. Those of the packages inside
the programs are in /usr/lib/svcd/bin/LICENCES.txt and below /usr/lib/svcd/node_modules.
`

const write = (root, file, text, mode = 0o644) => {
  const path = join(root, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Makes the package from a tree. Returns its path. */
export const makeDebianPackage = ({ file, tree }) => {
  const root = `${file}.root`
  cpSync(tree, join(root, "usr"), { recursive: true })
  for (const unit of SERVICES) {
    const path = join(root, "usr/lib/systemd/system", unit)
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("/usr/local/bin/", "/usr/bin/"))
  }
  for (const [path, text] of Object.entries(SETTINGS)) write(root, path, text)
  write(root, "usr/share/doc/svcd/copyright", copyright(readFileSync(join(tree, "share/doc/svcd/LICENSE"), "utf8")))
  for (const page of filesUnder(join(root, "usr/share/man"))) run("gzip", ["--no-name", "-9", page])

  const kilobytes = filesUnder(root).reduce((sum, path) => sum + Math.ceil(statSync(path).size / 1024), 0)
  const sums = filesUnder(root).map((path) => relative(root, path)).filter((path) => !path.startsWith("etc/")).sort()
  write(root, "DEBIAN/md5sums", run("md5sum", sums, { cwd: root }))
  write(root, "DEBIAN/control", control(kilobytes))
  write(root, "DEBIAN/conffiles", Object.keys(SETTINGS).map((path) => `/${path}\n`).join(""))
  write(root, "DEBIAN/postinst", POSTINST, 0o755)
  write(root, "DEBIAN/prerm", PRERM, 0o755)
  write(root, "DEBIAN/postrm", POSTRM, 0o755)
  settle(root)
  for (const path of Object.keys(SETTINGS)) chmodSync(join(root, path), 0o600)
  run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z6", "--build", root, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(commitTime()) }
  })
  rmSync(root, { recursive: true })
  return file
}
