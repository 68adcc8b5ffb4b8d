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

/** Everything that the pages say in German. */
export const de: Texts = { ...frame, failure, privacy }
