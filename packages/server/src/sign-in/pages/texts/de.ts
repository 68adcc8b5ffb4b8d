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

/** Everything that the pages say in German. */
export const de: Texts = { ...frame, failure }
