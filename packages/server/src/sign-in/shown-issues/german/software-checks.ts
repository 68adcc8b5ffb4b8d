/* Checks of programs, extensions and packages, in German. */
import type { CheckWords, CheckWordsBySlug } from './check-words.ts'
import { EXEMPTION } from './phrases.ts'

const UNINSTALL = [
  'Öffnen Sie **Einstellungen** > **Apps** > **Installierte Apps**.',
  'Suchen Sie **{{ issue.value.name }}**, wählen Sie **…** > **Deinstallieren** und folgen Sie den Schritten.',
] as const
const REMOVE_PACKAGE =
  'Öffnen Sie ein Terminal. Ubuntu und Debian: Führen Sie `sudo apt purge NAME` aus. Fedora und Red Hat: `sudo dnf remove NAME`. Der Name ist **{{ issue.value.name }}**.'

function browser(name: string, packageName: string, inBrowser: readonly string[]): CheckWords {
  return {
    name: `${name} aktuell`,
    title: `${name} ist veraltet`,
    privacy: `Die installierte Version von ${name}. Kein Verlauf, keine Lesezeichen, keine Einstellungen.`,
    rationale: `Die Version {{ issue.value.version }} von ${name} hat bekannte Lücken. Ein Browser führt den ganzen Tag aus, was Fremde ihm schicken; ein Besuch einer präparierten Seite kann genügen, um ihn zu übernehmen.`,
    steps: {
      darwin: inBrowser,
      windows: inBrowser,
      linux: `Öffnen Sie ein Terminal, führen Sie die Zeile für Ihre Distribution aus, und starten Sie den Browser neu:

- Ubuntu und Debian: \`sudo apt update && sudo apt install --only-upgrade ${packageName}\`
- Fedora und Red Hat: \`sudo dnf upgrade --refresh ${packageName}\``,
    },
  }
}

export const softwareChecks: CheckWordsBySlug = {
  'chrome-up-to-date': browser('Google Chrome', 'google-chrome-stable', [
    'Öffnen Sie Google Chrome und wählen Sie **⋮** > **Hilfe** > **Über Google Chrome**.',
    'Warten Sie auf das Update und wählen Sie **Neu starten**. Ihre Tabs kommen wieder.',
  ]),
  'edge-up-to-date': browser('Microsoft Edge', 'microsoft-edge-stable', [
    'Öffnen Sie Microsoft Edge und wählen Sie **…** > **Hilfe und Feedback** > **Infos zu Microsoft Edge**.',
    'Warten Sie auf das Update und wählen Sie **Neu starten**. Ihre Tabs kommen wieder.',
  ]),
  'firefox-up-to-date': browser('Firefox', 'firefox', [
    'Öffnen Sie Firefox. macOS: Wählen Sie in der Menüleiste **Firefox** > **Über Firefox**. Windows: Wählen Sie **☰** > **Hilfe** > **Über Firefox**.',
    'Warten Sie auf das Update und wählen Sie **Zum Abschließen des Updates Firefox neu starten**. Ihre Tabs kommen wieder.',
  ]),
  'safari-up-to-date': {
    name: 'Safari aktuell',
    title: 'Safari ist veraltet',
    privacy:
      'Die installierte Version von Safari. Kein Verlauf, keine Lesezeichen, keine Einstellungen.',
    rationale:
      '{{ issue.value.outdated }} hat bekannte Lücken. macOS zeigt Webseiten auch in anderen Apps wie Mail mit denselben Teilen; das betrifft also auch, wer einen anderen Browser benutzt.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Softwareupdate**.',
        'Wählen Sie **Jetzt aktualisieren**, oder die **Info**-Taste (i) neben den Updates und kreuzen Sie **Safari** an, und warten Sie, bis das Update installiert ist.',
        'Wird nichts angeboten, bekommt Ihr macOS kein neueres Safari: Aktualisieren Sie macOS, oder fragen Sie Ihre IT.',
      ],
    },
  },
  'xcode-up-to-date': {
    name: 'Xcode aktuell',
    title: 'Xcode ist veraltet',
    privacy: 'Die installierten Versionen von Xcode. Keine Projekte.',
    rationale:
      '{{ issue.value.outdated }} hat bekannte Lücken in seinen Compilern und im mitgelieferten Git, und der App Store nimmt keine Apps, die damit gebaut sind.',
    steps: {
      darwin: [
        'Öffnen Sie **App Store** > **Updates** und wählen Sie neben Xcode **Aktualisieren**. Ein Xcode von der Website von Apple ersetzen Sie durch das neueste von dort.',
        'Öffnen Sie Xcode einmal, damit es installiert, was dazugehört.',
        'Ziehen Sie ältere Kopien in den **Papierkorb**. Braucht ein Projekt eine davon, beantragen Sie eine Ausnahme.',
      ],
    },
  },
  'office-up-to-date': {
    name: 'Microsoft Office aktuell',
    title: 'Microsoft Office ist veraltet',
    privacy: 'Namen und Versionen der installierten Office-Programme. Keine Dokumente.',
    rationale:
      '{{ issue.value.outdated }} hat bekannte Lücken. Dokumente aus Mails und von Webseiten sind der häufigste Weg hinein, und eines zu öffnen genügt.',
    steps: {
      darwin: [
        'Öffnen Sie Word und wählen Sie in der Menüleiste **Hilfe** > **Auf Updates überprüfen**. Office aus dem App Store: Öffnen Sie **App Store** > **Updates**.',
        'Wählen Sie **Alle aktualisieren** und lassen Sie die Programme schließen, wenn danach gefragt wird.',
        'Wird kein Update angeboten, ist dieses Office oder dieses macOS zu alt dafür: Bitten Sie Ihre IT um ein neueres.',
      ],
      windows: [
        'Öffnen Sie Word und wählen Sie **Datei** > **Konto** > **Updateoptionen** > **Jetzt aktualisieren**.',
        'Schließen Sie die Programme, wenn danach gefragt wird, und warten Sie, bis das Update fertig ist.',
        'Office 2019 und ältere bekommen keine Updates mehr. Bitten Sie Ihre IT um Microsoft 365 oder ein neueres Office, oder deinstallieren Sie es unter **Einstellungen** > **Apps** > **Installierte Apps**.',
      ],
    },
  },
  'sideloaded-browser-extensions': {
    name: 'Keine Erweiterungen von außerhalb des Stores',
    title: 'Eine Browser-Erweiterung stammt nicht aus dem Store',
    privacy:
      'Name, Kennung, Version, Ordner und Besitzer von Erweiterungen, die nicht aus dem Store sind. Keine anderen Erweiterungen und nichts von dem, was Sie ansehen.',
    rationale:
      'Die Erweiterung **{{ issue.value.name }}** kam nicht aus dem Store des Browsers; niemand hat sie angesehen. Erweiterungen können jede Seite lesen und ändern, die Sie öffnen, auch Ihre Mail und Ihre Bank.',
    steps: [
      'Öffnen Sie den Browser (**{{ issue.value.browser_type }}**) und geben Sie `chrome://extensions` in die Adresszeile ein; in Edge `edge://extensions`.',
      'Suchen Sie **{{ issue.value.name }}** (Kennung {{ issue.value.identifier | code }}) und wählen Sie **Entfernen**.',
      'Brauchen Sie sie, installieren Sie sie aus dem Chrome Web Store oder von Edge-Add-Ons. Entwickeln Sie sie, beantragen Sie eine Ausnahme.',
    ],
  },
  'malicious-extensions': {
    name: 'Keine schädlichen Erweiterungen',
    title: 'Eine schädliche Erweiterung ist installiert',
    privacy:
      'Kennung, Name, Version, Programm und Besitzer der gefundenen schädlichen Erweiterungen. Keine anderen Erweiterungen und nichts von dem, was Sie ansehen.',
    rationale:
      'Die Version {{ issue.value.version }} der Erweiterung **{{ issue.value.name }}** haben Angreifer veröffentlicht ({{ issue.value.incident }}). Was sie sehen konnte, etwa Sitzungen, Passwörter, Quelltext und Schlüssel, muss als gestohlen gelten.',
    steps: [
      'Sagen Sie es sofort Ihrer IT oder Ihrem Sicherheitsteam: Dort will man wissen, wie lange sie da war.',
      'Entfernen Sie **{{ issue.value.name }}** ({{ issue.value.identifier | code }}). Im Browser: Geben Sie `chrome://extensions` in die Adresszeile ein (in Edge `edge://extensions`) und wählen Sie **Entfernen**. In Visual Studio Code und Ähnlichem: Öffnen Sie die **Erweiterungen**, suchen Sie sie und wählen Sie **Deinstallieren**.',
      'Schließen und öffnen Sie den Browser oder Editor.',
      'Melden Sie alle Sitzungen Ihrer wichtigen Konten ab, und ändern Sie deren Passwörter und Schlüssel von einem anderen Gerät aus. Tun Sie das auch, wenn ein Update die Version schon ersetzt hat.',
    ],
  },
  'compromised-packages': {
    name: 'Keine unterwanderten Pakete von npm oder PyPI',
    title: 'Ein unterwandertes Paket ist installiert',
    privacy:
      'Name, Version und Pfad der gefundenen unterwanderten Pakete. Keine anderen Pakete und keine Projekte.',
    rationale:
      'Angreifer haben die Version {{ issue.value.version }} von **{{ issue.value.package }}** bei {{ issue.value.registry }} veröffentlicht ({{ issue.value.incident }}). Sie lief beim Installieren oder ersten Benutzen: Die Passwörter, Token und Schlüssel auf {{ device.name }} müssen als gestohlen gelten.',
    steps: [
      'Sagen Sie es sofort Ihrer IT oder Ihrem Sicherheitsteam: Dort will man sehen, was das Paket getan hat, bevor es entfernt wird.',
      'Entfernen Sie es. npm: `npm uninstall -g NAME`. Python: `pip uninstall NAME`, oder dasselbe mit `pipx` oder `uv tool`. Der Name ist {{ issue.value.package | code }}, und es liegt in {{ issue.value.path | code }}.',
      'Leeren Sie die Zwischenspeicher: `npm cache clean --force`, `pip cache purge`.',
      'Ändern Sie von einem anderen Gerät aus die Passwörter, Token und Schlüssel, die auf diesem lagen: zuerst die von Clouds, Paketservern, Git und SSH.',
      'Suchen Sie dieselbe Version in Ihren Projekten und deren Lock-Dateien.',
    ],
  },
  'banned-applications': {
    name: 'Keine unerwünschten Programme',
    title: 'Ein unerwünschtes Programm ist installiert',
    privacy: 'Namen und Versionen der gefundenen unerwünschten Programme. Keine andere Software.',
    rationale:
      '**{{ issue.value.name }}** gehört zu einer Art, die {{ organisation.name | default: "Ihre Organisation" }} nicht auf ihren Geräten will: Es teilt Dateien mit Fremden, bringt andere Programme mit oder hat Lücken, die niemand mehr schließt.',
    steps: {
      darwin: [
        'Beenden Sie **{{ issue.value.name }}**.',
        'Öffnen Sie **Finder** > **Programme** und ziehen Sie es in den **Papierkorb**, oder starten Sie sein eigenes Deinstallationsprogramm.',
        EXEMPTION,
      ],
      windows: [...UNINSTALL, EXEMPTION],
      linux: [REMOVE_PACKAGE, EXEMPTION],
    },
  },
  'remote-access-tools': {
    name: 'Keine Fernzugriffsprogramme',
    title: 'Ein Fernzugriffsprogramm ist installiert',
    privacy: 'Namen und Versionen der gefundenen Fernzugriffsprogramme. Keine andere Software.',
    rationale:
      '**{{ issue.value.name }}** lässt jemanden in der Ferne {{ device.name }} sehen und steuern. Falsche Helfer am Telefon überreden Leute zu solchen Programmen, und Einbrecher kommen oft damit wieder. Wissen Sie nicht, wie es dorthin kam, oder hat Sie jemand am Telefon darum gebeten, sagen Sie es sofort Ihrer IT.',
    steps: {
      darwin: [
        'Beenden Sie **{{ issue.value.name }}**.',
        'Öffnen Sie **Finder** > **Programme** und ziehen Sie es in den **Papierkorb**.',
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Anmeldeobjekte & Erweiterungen** und entfernen Sie, was dazugehört.',
        EXEMPTION,
      ],
      windows: [...UNINSTALL, EXEMPTION],
      linux: [REMOVE_PACKAGE, EXEMPTION],
    },
  },
  'suspicious-launch-items': {
    name: 'Keine verdächtigen Startobjekte',
    title: 'Ein Programm in einem temporären Ordner startet von selbst',
    privacy: 'Pfad, Name und Programm von Startobjekten aus temporären oder geteilten Ordnern.',
    rationale:
      'Die Datei {{ issue.value.path | code }} lässt macOS immer wieder {{ issue.value.program | code }} starten. Ehrliche Software liegt nicht in diesem Ordner; Schadprogramme oft.',
    steps: {
      darwin: `Öffnen oder löschen Sie die Datei noch nicht: Ihr Sicherheitsteam will sie vielleicht ansehen.

1. Sagen Sie Ihrer IT den Namen dieses Macs und den Pfad {{ issue.value.path | code }}.
2. Kennen Sie das Programm und haben Sie es selbst installiert, installieren Sie es neu in **Programme** und beantragen Sie bis dahin eine Ausnahme.`,
    },
  },
}
