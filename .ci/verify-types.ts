// A program for a browser: its compiler knows neither Node.js nor a page.

import { identity, records, resolve, type VerifiedName, verifyNameProof } from "svcd/verify"
import { signatures } from "svcd/verify/signatures"

export const outcome = verifyNameProof("{}", { signatures })

export const valueOf = (name: VerifiedName): string => name.value

export const found = resolve("alice@example.bit", { servers: ["wss://one.example", "wss://two.example"] }).then((
  name
) => "failed" in name ? undefined : [identity(name.value, name.local), records(name.value, "www.example.bit", "A")])
