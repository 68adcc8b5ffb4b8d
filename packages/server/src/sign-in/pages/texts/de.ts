import type { Texts } from './en.ts'

const frame = {
  skip: 'Zur Seite springen',
  more: 'Mehr',
  copy: 'Kopieren',
  copied: 'Kopiert',
  privacyCentre: 'Datenschutz',
  myDevices: 'Meine Geräte',
  back: 'Zurück',
}

const failure = {
  title: 'Das hat nicht geklappt',
  notFound: 'Unter dieser Adresse gibt es nichts.',
  notFoundMore: 'Vielleicht ist es beendet, oder der Link kam gekürzt bei Ihnen an.',
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

const issues = {
  fixed: 'Behoben',
  exempted: 'Ausgenommen',
  blocks: 'Sperrt jetzt',
  blocksPrefix: 'Sperrt',
  notice: 'Zu Ihrer Kenntnis',
  foundTitle: 'Was gefunden wurde',
  stepsTitle: 'Was zu tun ist',
  takes: (minutes: number) => `etwa ${minutes} min`,
  openSettings: 'Einstellungen öffnen',
  fixedIt: 'Ich habe es behoben',
  asking: 'Ihr Gerät wird gefragt. Das dauert ein, zwei Sekunden, solange es online ist.',
  stillFailing: 'Ihr Gerät hat geantwortet: Es ist noch so.',
  passing: 'Ihr Gerät hat geantwortet: Das ist jetzt in Ordnung.',
  lastChecked: 'Zuletzt geprüft',
  askExemption: 'Ich kann das nicht beheben: Ausnahme beantragen',
  exemptionMore:
    'Ein Admin entscheidet, meist innerhalb eines Arbeitstags. Sie sehen die Entscheidung hier.',
  exemptionReason: 'Warum lässt es sich nicht beheben?',
  sendRequest: 'Antrag senden',
  exemptionOpen: 'Sie haben eine Ausnahme beantragt. Ein Admin hat noch nicht entschieden.',
  exemptionDenied: 'Ihr letzter Antrag auf eine Ausnahme wurde abgelehnt.',
}

const attempt = {
  personTitle: 'Wer sind Sie?',
  whoHere: 'Wer sind Sie?',
  whoSignsIn: (application: string) => `Wer meldet sich bei ${application} an?`,
  email: 'Ihre E-Mail-Adresse bei der Arbeit',
  goOn: 'Weiter',
  proofTitle: 'Ihr Gerät wird erkannt',
  proof: 'Ihr Gerät wird erkannt …',
  proofMore: (name: string) =>
    `${name === '' ? 'Ihr' : `${name}, Ihr`} Browser öffnet drei Verbindungen, und Ihre Geräte werden gefragt, welches von ihnen sie hält. Das dauert ein paar Sekunden.`,
  proofWithoutScript:
    'Ihr Browser führt keine Skripte aus, darum kann er diese Verbindungen nicht öffnen.',
  otherWay: 'Anders weitermachen',
  postureTitle: 'Ihr Gerät wird geprüft',
  posture: (device: string) => `${device === '' ? 'Ihr Gerät' : device} wird geprüft …`,
  blockedTitle: 'Vorerst gesperrt',
  blocked: (count: number) =>
    count <= 1
      ? 'Sie können sich anmelden, sobald eine Sache behoben ist.'
      : `Sie können sich anmelden, sobald ${count} Dinge behoben sind.`,
  blockedMore: 'Beheben Sie, was unten sperrt. Diese Seite merkt es und macht von selbst weiter.',
  warnedTitle: 'Sie können weitermachen',
  warned: 'Sie können weitermachen.',
  warnedMore: 'Zu Ihrem Gerät gibt es etwas, das Sie wissen sollten.',
  fixBefore: 'Beheben Sie, was unten steht, bis',
  orBlocked: (device: string) => `. Danach wird ${device} gesperrt.`,
  thisDevice: 'dieses Gerät',
  continueNow: 'Weiter',
  otherWays: 'Andere Wege',
  otherDeviceTitle: 'Ein anderes Gerät benutzen',
  otherDevice: 'Beginnen Sie die Anmeldung neu auf einem Gerät, das in Ordnung ist.',
  contactTitle: 'Um Hilfe bitten',
  contact: (id: string) => `Nennen Sie Ihrer IT diese Nummer: ${id}`,
  doneTitle: 'Angemeldet',
  done: (name: string) => `Alles ist in Ordnung. Es geht weiter zu ${name}.`,
  yourPages: 'Ihren Geräten',
  goesOn: (seconds: number) => `In ${seconds} Sekunden geht es von selbst weiter.`,
  goTo: (name: string) => `Zu ${name}`,
  stayHere: 'Hier bleiben',
  refusedTitle: 'Nicht angemeldet',
  refused: 'Sie wurden nicht angemeldet.',
  refusedDevice: (device: string) => `Das Gerät war ${device}.`,
  beginAgain: 'Um es noch einmal zu versuchen, beginnen Sie dort, wo Sie herkamen.',
  backToApplication: 'Zurück, wo ich herkam',
  forAdmins: (code: string, id: string) => `Für Admins: ${code}, Anmeldung ${id}`,
  abandonedTitle: 'Beendet',
  abandoned: 'Diese Anmeldung hat zu lange gedauert und ist beendet.',
  cancel: 'Diese Anmeldung abbrechen',
  seen: 'gesehen',
  howKnown: {
    live: 'Dieser Browser läuft darauf: Es hält die Verbindungen dieser Seite',
    hardware: 'Erkannt an einem Schlüssel in seiner Hardware',
    approved: 'Erkannt durch eine Bestätigung',
    key: 'Erkannt am Schlüssel dieses Browsers',
    none: 'Nicht erkannt',
  },
  notMyDevice: 'Das ist nicht mein Gerät',
  refusals: {
    person_unknown: 'Unter dieser Adresse ist hier niemand bekannt.',
    person_ended: 'Ihr Konto wurde abgeschaltet.',
    person_missing: 'Die Anwendung sagt nicht, wer sich anmeldet. Sagen Sie es Ihrer IT.',
    upstream_unreachable: 'Ihr Identitätsanbieter ist gerade nicht erreichbar.',
    upstream_refused:
      'Ihr Identitätsanbieter hat Sie nicht eingelassen, oder Sie haben dort abgebrochen.',
    upstream_person_mismatch:
      'Bei Ihrem Identitätsanbieter sind Sie jemand anders, als die Anwendung sagt. Melden Sie sich dort ab und beginnen Sie neu.',
    device_unknown:
      'Es ließ sich nicht zeigen, dass Sie an einem Gerät sitzen, das diese Organisation kennt. Nehmen Sie ein Gerät von der Arbeit.',
    device_unreachable:
      'Ihr Gerät antwortet nicht. Sehen Sie nach, ob es online ist, und beginnen Sie neu.',
    proof_unavailable:
      'Die Verbindung, die zeigt, an welchem Gerät Sie sitzen, ließ sich nicht öffnen.',
    relayed:
      'Jemand anders hat Verbindungen geöffnet, die zu Ihrer Anmeldung gehören. Zu Ihrem Schutz wurde sie beendet. Wenn Sie über einen Link in einer Nachricht hierher kamen, melden Sie das.',
    device_of_another_person: 'Dieses Gerät gehört jemand anderem.',
    other_os_user: 'Sie sind auf diesem Gerät als jemand anders angemeldet als der, dem es gehört.',
    registration_refused:
      'Neue Geräte lassen sich nicht beim Anmelden registrieren. Fragen Sie Ihre IT.',
    registration_denied: 'Die Registrierung dieses Geräts wurde abgelehnt.',
    assurance_too_low: 'Diese Anwendung verlangt einen stärkeren Nachweis Ihres Geräts.',
    fallback_denied: 'Ihre Anfrage wurde abgelehnt.',
    device_blocked: 'Ihr Gerät ist gesperrt, bis seine Probleme behoben sind.',
    not_my_device: 'Sie sagten, dass dies nicht Ihr Gerät ist; darum wurde die Anmeldung beendet.',
    cancelled: 'Sie haben die Anmeldung abgebrochen.',
    application_disabled: 'Diese Anwendung ist hier abgeschaltet.',
  },
}

const ladder = {
  registrationTitle: 'Ein neues Gerät',
  register: (device: string) => `Gehört ${device} Ihnen?`,
  registerMore:
    'Es ist zum ersten Mal hier. Auf Sie registriert, können Sie sich damit anmelden, und seine Prüfungen werden Ihnen gezeigt.',
  message: 'Eine Nachricht an den, der entscheidet',
  messageHint: 'Nur, falls jemand entscheiden muss.',
  registerNow: 'Ja, auf mich registrieren',
  fallbackTitle: 'Ein anderer Weg',
  fallback: 'Ihr Gerät ließ sich nicht erkennen.',
  fallbackMore: 'Es gibt andere Wege, zu zeigen, dass Sie es sind.',
  waiting: 'Eine Bestätigung steht noch aus …',
  waitingMore: 'Lassen Sie diese Seite offen: Sie macht von selbst weiter.',
  openOther:
    'Öffnen Sie „Meine Geräte“ auf einem Gerät, das auf Sie registriert ist, und bestätigen Sie dort.',
  adminDecides: 'Ein Admin wurde um Zustimmung gebeten.',
  compare: 'Geben Sie dort diese Zahl ein:',
  ways: {
    registered_device: {
      title: 'Von einem anderen Ihrer Geräte bestätigen',
      more: 'Auf einem Gerät, das auf Sie registriert und in Ordnung ist.',
      action: 'Ein anderes Gerät benutzen',
    },
    certificate: {
      title: 'Das Zertifikat dieses Geräts benutzen',
      more: 'Ihr Browser fragt, welches Zertifikat er zeigen soll.',
      action: 'Ein Zertifikat benutzen',
    },
    admin_approval: {
      title: 'Einen Admin fragen',
      more: 'Jemand aus Ihrer IT sieht es sich an und entscheidet.',
      action: 'Um Zustimmung bitten',
    },
    browser_key: {
      title: 'Den Schlüssel dieses Browsers benutzen',
      more: 'Er wurde an Ihr Gerät gebunden, als Sie sich zuletzt hier anmeldeten. Nicht jede Anwendung nimmt ihn.',
      action: 'Diesen Browser benutzen',
    },
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
  wrongCode: 'Das ist nicht die Zahl, die auf der anderen Seite steht.',
}

/** Everything that the pages say in German. */
export const de: Texts = {
  ...frame,
  failure,
  privacy,
  issues,
  attempt,
  ladder,
  fix,
  me,
  myData,
  requests,
}
