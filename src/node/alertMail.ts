import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import * as AlertFile from "../alerts/AlertFile.ts"
import * as AlertMail from "../alerts/mail/AlertMail.ts"
import { isLoopback } from "../base/addresses.ts"
import { hostName } from "../base/mailbox.ts"
import { alertMailOf, type AlertMailSettings } from "../config/alertSettings.ts"
import { DataDirectory } from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import { paramsOf } from "../consensus/params.ts"
import type { UpstreamConfig, UpstreamTls } from "../mail/relay/RelayConfig.ts"
import { networks } from "../protocol/networks.ts"

const CONNECT_TIMEOUT = Duration.seconds(30)
const ANSWER_TIMEOUT = Duration.minutes(2)

const tlsOf = ({ allowPlain, server: { address, isImplicit } }: AlertMailSettings): UpstreamTls => {
  if (isImplicit) return "implicit"
  return allowPlain || isLoopback(address.host) ? "opportunistic" : "required"
}

const upstreamOf = (mail: AlertMailSettings): UpstreamConfig => ({
  upstream: mail.server.address,
  credentials: mail.server.credentials,
  upstreamTls: tlsOf(mail),
  upstreamCa: undefined,
  hostname: hostName(hostname()) ?? "localhost",
  limits: { connectTimeout: CONNECT_TIMEOUT, answerTimeout: ANSWER_TIMEOUT }
})

export const alertMailLayer = ({ alerts, chain: { network } }: Pick<Settings, "alerts" | "chain">) => {
  const mail = alertMailOf(alerts)
  const file = Layer.unwrapEffect(
    Effect.map(DataDirectory, (directory) => AlertFile.layer(directory.file("alerts.json")))
  )
  if (mail === undefined) return Layer.merge(file, AlertMail.layerNoMail)
  const upstream = upstreamOf(mail)
  const message = { from: mail.from, hostname: upstream.hostname, params: paramsOf(networks[network]) }
  return AlertMail.layer({
    addresses: mail.to,
    // Only a node that sends mail loads the client of SMTP.
    send: (outgoing) =>
      Effect.flatMap(
        Effect.promise(() => import("../mail/alerts/sendAlertMail.ts")),
        ({ sendAlertMail }) => sendAlertMail({ upstream, message })(outgoing)
      )
  }).pipe(Layer.provideMerge(file))
}
