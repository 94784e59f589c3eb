export interface NsdConf {
  /** Where its files are. */
  readonly directory: string
  /** `127.0.0.1`, or with a port: `127.0.0.1@5300`. */
  readonly address: string
  /** Files in the directory by zone. */
  readonly zones: Readonly<Record<string, string>>
}

/** The configuration of an NSD with one process that answers, for the user who starts it. */
export const nsdConf = ({ address, directory, zones }: NsdConf): string =>
  [
    "server:",
    `ip-address: ${address}`,
    "server-count: 1",
    "username: \"\"",
    "chroot: \"\"",
    `zonesdir: "${directory}"`,
    "database: \"\"",
    `pidfile: "${directory}/nsd.pid"`,
    `xfrdfile: "${directory}/xfrd"`,
    `zonelistfile: "${directory}/zones"`,
    "rrl-ratelimit: 0",
    "remote-control:",
    "control-enable: no",
    ...Object.entries(zones).flatMap(([zone, file]) => ["zone:", `name: ${zone}`, `zonefile: ${file}`]),
    ""
  ].join("\n")
