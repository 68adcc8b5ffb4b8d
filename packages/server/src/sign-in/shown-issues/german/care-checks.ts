/* Checks of how a device is looked after, in German. */
import type { CheckWordsBySlug } from './check-words.ts'

export const careChecks: CheckWordsBySlug = {
  'restarted-recently': {
    name: 'Kürzlich neu gestartet',
    title: 'Das Gerät wurde lange nicht neu gestartet',
    privacy: 'Wie lange das Gerät seit seinem letzten Start läuft.',
    rationale:
      '{{ device.name }} läuft seit {{ issue.value.uptime_days }} Tagen. Viele Sicherheitsupdates wirken erst nach einem Neustart.',
    steps: {
      darwin: 'Sichern Sie Ihre Arbeit und wählen Sie das Apple-Menü > **Neustart …**.',
      windows:
        'Sichern Sie Ihre Arbeit und öffnen Sie **Start** > **Ein/Aus** > **Neu starten**. **Herunterfahren** ist nicht dasselbe: Windows schläft dann nur tief und beginnt nicht von vorn.',
      linux:
        'Sichern Sie Ihre Arbeit, öffnen Sie das Systemmenü oben rechts und wählen Sie den Ausschaltknopf > **Neu starten …**, oder führen Sie `systemctl reboot` aus.',
    },
  },
  'restart-not-pending': {
    name: 'Kein Neustart ausstehend',
    title: 'Ein Update wartet auf einen Neustart',
    privacy: 'Ob ein Update auf einen Neustart wartet.',
    rationale:
      'Auf {{ device.name }} sind Updates installiert, die es noch nicht schützen: Sie wirken mit dem nächsten Neustart.',
    steps: {
      windows:
        'Sichern Sie Ihre Arbeit und öffnen Sie **Start** > **Ein/Aus** > **Aktualisieren und neu starten**.',
      linux:
        'Sichern Sie Ihre Arbeit, öffnen Sie das Systemmenü oben rechts und wählen Sie den Ausschaltknopf > **Neu starten …**, oder führen Sie `systemctl reboot` aus.',
    },
  },
  'time-synchronised': {
    name: 'Uhr stellt sich von selbst',
    title: 'Die Uhr stellt sich nicht von selbst',
    privacy: 'Ob sich die Uhr von selbst stellt. Kein Standort und keine Zeitzone.',
    rationale:
      'Zertifikate, Einmalcodes und Protokolle hängen von der richtigen Zeit ab. Mit einer falschen Uhr scheitern Anmeldungen, und abgelaufene Zertifikate können gültig aussehen.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Datum & Uhrzeit**.',
        'Schalten Sie **Uhrzeit und Datum automatisch einstellen** ein.',
      ],
      windows: [
        'Öffnen Sie **Einstellungen** > **Zeit und Sprache** > **Datum und Uhrzeit**.',
        'Schalten Sie **Uhrzeit automatisch festlegen** ein und wählen Sie **Jetzt synchronisieren**.',
        'Scheitert das, öffnen Sie **Start**, tippen Sie `Dienste`, öffnen Sie **Dienste** > **Windows-Zeitgeber**, stellen Sie **Starttyp** auf **Manuell** und wählen Sie **Starten**.',
      ],
      linux:
        'Öffnen Sie ein Terminal und führen Sie `sudo timedatectl set-ntp true` aus. Heißt es, dass NTP nicht unterstützt wird, führen Sie zuerst `sudo apt install systemd-timesyncd` oder `sudo dnf install chrony` aus.',
    },
  },
  'agent-up-to-date': {
    name: 'osquery aktuell',
    title: 'osquery ist veraltet',
    privacy: 'Die Version von osquery, unter macOS auch die Hauptversion des Systems.',
    rationale:
      'Auf {{ device.name }} läuft die Version {{ issue.value.version }} des Programms, das sagt, wie es geschützt ist; {{ issue.value.minimum_version }} ist die älteste, die das kann. Was eine ältere nicht sieht, gilt als unbekannt.',
    steps: {
      darwin: [
        'Wenn Ihre Organisation Software für Sie installiert, starten Sie den Mac neu und warten Sie eine Stunde: Ihre IT aktualisiert das Programm.',
        'Wenn Sie sich selbst um diesen Mac kümmern, laden Sie das neueste Paket von `https://osquery.io/downloads`, öffnen Sie es und folgen Sie den Schritten. Die Einstellungen bleiben.',
      ],
      windows: [
        'Wenn Ihre Organisation Software für Sie installiert, starten Sie den Rechner neu und warten Sie eine Stunde: Ihre IT aktualisiert das Programm.',
        'Wenn Sie sich selbst um diesen Rechner kümmern, laden Sie das neueste MSI von `https://osquery.io/downloads` und öffnen Sie es, oder führen Sie in einem Terminal als Administrator `winget upgrade osquery.osquery` aus. Die Einstellungen bleiben.',
      ],
      linux: `Wenn sich Ihre IT um das Programm kümmert, sagen Sie ihr Bescheid. Sonst öffnen Sie ein Terminal und führen Sie die Zeile für Ihre Distribution aus:

- Ubuntu und Debian: \`sudo apt update && sudo apt install --only-upgrade osquery\`
- Fedora und Red Hat: \`sudo dnf upgrade --refresh osquery\`

Wird keine neuere Version angeboten, laden Sie das Paket von \`https://osquery.io/downloads\`. Die Einstellungen bleiben.`,
    },
  },
  'mdm-enrolled': {
    name: 'In der Geräteverwaltung',
    title: 'Das Gerät ist in keiner Geräteverwaltung',
    privacy:
      'Ob das Gerät angemeldet ist, unter Windows bei welcher Art von Server, unter macOS wie viele Einstellungen Profile erzwingen.',
    rationale:
      '{{ organisation.name | default: "Ihre Organisation" }} kümmert sich über eine Geräteverwaltung um ihre Geräte: Sie schaltet den Schutz ein, bringt Updates und kann ein gestohlenes Gerät löschen. {{ device.name }} gehört nicht dazu.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Geräteverwaltung**. Wartet dort ein Profil, öffnen Sie es und wählen Sie **Registrieren** oder **Installieren**.',
        'Ist die Liste leer, öffnen Sie die Seite zur Anmeldung, die Ihre IT Ihnen gegeben hat, oder fragen Sie danach, und folgen Sie ihren Schritten.',
      ],
      windows: [
        'Öffnen Sie **Einstellungen** > **Konten** > **Auf Arbeits- oder Schulkonto zugreifen**.',
        'Wählen Sie **Verbinden** und melden Sie sich mit Ihrem Arbeitskonto an. Ist es schon verbunden, wählen Sie es > **Info** > **Synchronisieren**.',
        'Wird **Info** nicht angeboten, darf Ihr Konto keine Geräte anmelden: Fragen Sie Ihre IT.',
      ],
    },
  },
}
