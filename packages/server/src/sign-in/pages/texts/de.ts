import { attempt, issues, ladder, provider } from './de-sign-in.ts'
import type { Texts } from './en.ts'

const frame = {
  skip: 'Zur Seite springen',
  more: 'Mehr',
  copy: 'Kopieren',
  infoButton: 'Info-Symbol',
  copied: 'Kopiert',
  privacyCentre: 'Datenschutz',
  myDevices: 'Meine Geräte',
  back: 'Zurück',
}

const failure = {
  title: 'Das hat nicht geklappt',
  notFound: 'Unter dieser Adresse gibt es nichts.',
  notFoundTitle: 'Hier ist nichts',
  notFoundMore:
    'Vielleicht ist es beendet, oder der Link kam gekürzt bei Ihnen an. Wenn Sie sich bei einer Anwendung anmelden wollten, beginnen Sie dort noch einmal.',
  toMyDevices: 'Meine Geräte ansehen',
  unavailable: 'Der Dienst kann gerade nicht antworten.',
  unavailableMore: 'Es ist nichts verloren. Versuchen Sie es gleich noch einmal.',
  refused: 'Das geht nicht.',
  foreign: 'Das kam von der Seite eines anderen Anbieters; darum ist nichts geschehen.',
  tryAgain: 'Noch einmal versuchen',
  reference: (id: string) => `Wenn Sie Hilfe brauchen, nennen Sie diese Nummer: ${id}`,
}

const privacy = {
  sentence: 'Das ist alles, was Ihre Geräte gefragt werden.',
  more: 'Prüfungen lesen Einstellungen eines Geräts, um zu sehen, ob man sich von dort sicher anmelden kann. Hier steht jede von ihnen mit genau der Frage, die sie stellt.',
  toMyData: 'Sehen, was über meine Geräte bekannt ist',
  neverTitle: 'Was keine Prüfung liest',
  never: [
    'was in Ihren Dokumenten, Nachrichten und Mails steht',
    'welche Seiten Sie besuchen und was Sie tippen',
    'Ihre Passwörter und die Wiederherstellungsschlüssel Ihrer Festplatte',
    'Ihre Kamera, Ihr Mikrofon und Ihren Standort',
    'was Ihr Bildschirm zeigt',
  ],
  liveQueries:
    'Admins können Geräten weitere Fragen stellen. Jede, die ein Gerät von Ihnen betraf, steht wörtlich unter „Meine Daten“.',
  keptTitle: 'Wie lange es aufbewahrt wird',
  keptAnswers: 'Letzte Antworten',
  keptChanges: 'Änderungen von Antworten',
  keptIssues: 'Behobene Probleme',
  keptSignIns: 'Anmeldungen',
  asLongAsDevice: 'so lange, wie das Gerät hier bekannt ist',
  days: (count: number) => (count === 0 ? 'ohne Ende' : count === 1 ? '1 Tag' : `${count} Tage`),
  checksTitle: (count: number) => (count === 1 ? 'Die eine Prüfung' : `Die ${count} Prüfungen`),
  allChecks: 'Alle Prüfungen',
  askedTitle: 'Was sie fragt',
  askedMore: 'Die Frage ist SQL für osquery, ein Programm, das nur liest.',
  askedElsewhere: 'Ein anderes System beantwortet diese Prüfung; Ihr Gerät wird nicht gefragt.',
  askedNothing: 'Ihr Gerät wird nicht gefragt.',
  exampleTitle: 'Wie eine Antwort aussehen kann',
  whyTitle: 'Warum das wichtig ist',
  whyMore: (device: string) => `${device} steht für ein Gerät; es ist erfunden.`,
  exampleMore: 'Die Antwort eines erfundenen Geräts, das die Prüfung nicht besteht.',
  ownTitle: 'Was Ihre Geräte zuletzt geantwortet haben',
  ownSignIn: 'Anmelden, um es zu sehen',
  ownNone: 'Ihre Geräte haben auf diese Prüfung nicht geantwortet.',
  moreRows: (count: number) =>
    count === 1
      ? 'Eine weitere Zeile steht im Download.'
      : `${count} weitere Zeilen stehen im Download.`,
  consequence: {
    block_immediately:
      'Mit einem Gerät, das diese Prüfung nicht besteht, kann man sich erst wieder anmelden, wenn das Problem behoben ist.',
    warn_then_block:
      'Ein Gerät, das diese Prüfung nicht besteht, hat einige Tage Zeit; danach kann man sich damit erst wieder anmelden, wenn das Problem behoben ist.',
    notify_only:
      'Ein Gerät, das diese Prüfung nicht besteht, kann weiter benutzt werden; wem es gehört, der wird benachrichtigt.',
    report_only: 'Aus dieser Prüfung folgt nichts; ihre Antworten werden nur berichtet.',
  },
}

const fix = {
  doneTitle: 'Behoben',
  done: (device: string) => `${device} ist in Ordnung, was dies angeht.`,
  doneMore: 'Hier ist nichts mehr zu tun.',
  blocked: (device: string) => `Mit ${device} können Sie sich erst anmelden, wenn das behoben ist.`,
  blockedMore: 'Folgen Sie den Schritten und lassen Sie Ihr Gerät dann neu prüfen.',
  notice: (device: string) => `Zu ${device} gibt es etwas zu wissen.`,
  warn: (device: string) => `Auf ${device} gibt es etwas zu beheben.`,
  before: 'Beheben Sie es bis',
  orElse: '. Danach können Sie sich damit erst wieder anmelden, wenn es behoben ist.',
  seen: (device: string) => `${device} wurde zuletzt gesehen:`,
  never: 'nie.',
  expires: 'Dieser Link endet am',
}

const me = {
  signInFirst: 'Welche Geräte gehören Ihnen?',
  signInMore:
    'Öffnen Sie diese Seite auf einem Ihrer Geräte: Es wird erkannt, und Sie brauchen kein Passwort.',
  signedInAs: (name: string) => `Angemeldet als ${name}`,
  signOut: 'Von diesen Seiten abmelden',
  none: 'Auf Sie ist kein Gerät registriert.',
  noneMore: 'Ein Gerät wird registriert, wenn Sie sich zum ersten Mal damit anmelden.',
  allGood: (count: number): string =>
    count === 1 ? 'Ihr Gerät ist in Ordnung.' : 'Alle Ihre Geräte sind in Ordnung.',
  someBlocked: (count: number) =>
    count === 1
      ? 'Mit einem Gerät können Sie sich nicht anmelden.'
      : `Mit ${count} Geräten können Sie sich nicht anmelden.`,
  someWillBlock: (count: number) =>
    count === 1 ? 'Ein Gerät braucht Sie bald.' : `${count} Geräte brauchen Sie bald.`,
  thisOne: 'Sie sitzen an diesem',
  seen: 'gesehen',
  neverSeen: 'nie gesehen',
  blocksOn: 'Gesperrt ab',
  issues: (count: number) => (count === 1 ? '1 Problem' : `${count} Probleme`),
  states: {
    Good: 'In Ordnung',
    Notified: 'In Ordnung',
    'Will Block': 'Bald beheben',
    Blocked: 'Gesperrt',
  },
  isGood: (device: string) => `${device} ist in Ordnung.`,
  isBlocked: (device: string) =>
    `Mit ${device} können Sie sich erst anmelden, wenn es behoben ist.`,
  willBlock: (device: string) => `${device} braucht Sie bald.`,
  system: 'System',
  model: 'Modell',
  serial: 'Seriennummer',
  registered: 'Ihres seit',
  lastSeen: 'Zuletzt gesehen',
}

const myData = {
  title: 'Meine Daten',
  sentence: 'Das ist alles, was über Ihre Geräte bekannt ist.',
  more: 'Ihre letzten Antworten, wer sie sehen kann und was sonst gefragt wurde.',
  download: 'Alles herunterladen',
  whoTitle: 'Wer es sehen kann',
  kinds: {
    admin: 'Admins',
    api_key: 'Programme mit einem Schlüssel',
    stream: 'Systeme, die hören, wenn sich der Zustand eines Geräts ändert',
    webhook: 'Systeme, denen Ereignisse gemeldet werden',
  },
  responsible: (admin: string) => `verantwortlich: ${admin}`,
  access: (access: string): string =>
    access === 'full' ? 'sieht und ändert alles' : 'sieht einen Teil',
  liveTitle: 'Was Admins außer den Prüfungen gefragt haben',
  noLive: 'Nichts.',
  answersTitle: (device: string) => `Letzte Antworten von ${device}`,
  answer: (count: number) => (count === 1 ? 'Die Antwort' : `Die Antwort: ${count} Zeilen`),
  statuses: {
    passing: 'in Ordnung',
    failing: 'nicht in Ordnung',
    errored: 'ließ sich nicht fragen',
    unknown: 'unbekannt',
    inapplicable: 'trifft nicht zu',
    stale: 'veraltet',
    pending: 'noch nicht beantwortet',
    out_of_scope: 'nicht gefragt',
  },
}

const requests = {
  title: 'Wartet auf Sie',
  registration: (device: string) => `${device} auf Sie registrieren?`,
  signIn: (device: string, application: string | null) =>
    `Von ${device} aus${application === null ? '' : ` bei ${application}`} anmelden?`,
  from: (address: string | null) =>
    `${address === null ? '' : `Gefragt von der Adresse ${address}. `}Bestätigen Sie nur, was Sie gerade selbst tun.`,
  code: 'Die Zahl, die auf der anderen Seite steht',
  yes: 'Ja, das bin ich',
  no: 'Nein, anhalten',
  more: (count: number) => `${count} frühere warten auch.`,
  wrongCode: 'Das ist nicht die Zahl, die auf der anderen Seite steht.',
}

const browsers = {
  title: 'Ihre Browser',
  more: 'Jeder hat einen Schlüssel, damit Ihr Gerät bei der Anmeldung schneller gefunden wird. Beenden Sie, was Sie nicht mehr benutzen.',
  on: (device: string) => `Ein Browser auf ${device}`,
  used: 'zuletzt benutzt',
  end: 'Beenden',
  copied: (device: string) =>
    `Der Schlüssel eines Browsers auf ${device} wurde an einer zweiten Stelle gesehen und deshalb beendet. Wenn Sie nicht auf einen anderen Rechner umgezogen sind, hat vielleicht jemand Ihren Browser kopiert: Sagen Sie es Ihrer IT.`,
}

/** Everything that the pages say in German. */
export const de: Texts = {
  ...frame,
  failure,
  privacy,
  issues,
  attempt,
  ladder,
  provider,
  fix,
  me,
  myData,
  requests,
  browsers,
}
