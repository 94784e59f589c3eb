export const DESK_STYLE = `
.session { order: 2; display: flex; align-items: center; gap: .5rem 1rem; margin-left: auto; font-size: .92rem; }
.session form { display: inline; }
form.stacked { display: grid; gap: 1rem; justify-items: start; }
form.inline { display: inline; }
.field { display: grid; gap: .25rem; width: 100%; max-width: 44rem; }
.field > label, legend { font-weight: 600; }
.field .hint, .hint { color: var(--muted); font-size: .88rem; }
.field .wrong { color: var(--attention); font-size: .92rem; font-weight: 500; list-style: none; padding: 0; margin: 0; overflow-wrap: anywhere; }
.field input, textarea, select { width: 100%; }
textarea, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--muted); border-radius: .5rem; padding: .45rem .75rem; }
textarea { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9rem; line-height: 1.5; resize: vertical; overflow-wrap: anywhere; }
[aria-invalid=true] { border-color: var(--attention); }
fieldset { border: 0; padding: 0; margin: 0; min-width: 0; display: grid; gap: .5rem; width: 100%; }
legend { padding: 0; }
.option { display: flex; gap: .6rem; align-items: baseline; }
.option .hint { display: block; }
input[type=checkbox], input[type=radio] { width: 1.1rem; height: 1.1rem; flex: none; accent-color: var(--link); transform: translateY(.15rem); padding: 0; }
.check { padding: .45rem; margin: -.45rem; display: inline-block; }
.card .card { border: 0; padding: 0; margin-top: 1rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; }
.card > .buttons, .card > form + form, .card > p + form, .card > form + p { margin-top: 1rem; }
.fields details { width: 100%; border-top: 1px solid var(--line); padding-top: .8rem; }
.fields summary { font-weight: 600; }
.fields details > .field { margin-top: .8rem; }
form > table + .buttons { margin-top: .9rem; }
.words { display: flex; flex-wrap: wrap; gap: 1rem; width: 100%; max-width: 44rem; }
.words .field { flex: 1 1 11rem; }
.draft { width: 100%; }
.record pre.value { max-height: none; }
.draft pre { margin-top: .4rem; }
.meter { font-variant-numeric: tabular-nums; }
.qr { display: block; width: 100%; max-width: 16rem; height: auto; border-radius: .5rem; margin: .8rem 0; }
.big { font-size: 1.05rem; }
.alert { padding: .7rem 1rem; border-radius: .5rem; color: var(--tone); background: var(--tone-back); overflow-wrap: anywhere; }
.alert p + p { margin-top: .35rem; }
.card > h1 + form, .card > h1 + .alert, .card > .alert + form { margin-top: .9rem; }
.steps { margin: .75rem 0; padding-left: 1.4rem; display: grid; gap: .35rem; }
meter { width: 10rem; height: .9rem; vertical-align: middle; }
.draft h2 { margin-bottom: .3rem; }
.login { max-width: 30rem; margin: 0 auto; width: 100%; }
@media (max-width: 44rem) {
  .session { display: grid; justify-items: start; margin-left: 0; padding: .6rem .75rem; border-top: 1px solid var(--line); }
  .own td[data-label="Choose"] { grid-column: 1 / -1; }
}
`
