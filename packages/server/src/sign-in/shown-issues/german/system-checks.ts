/* Checks of disks, updates and the screen, in German. */
import { numberSteps } from '../../../posture/checks/catalogue/catalogue-entry.ts'
import type { CheckWordsBySlug } from './check-words.ts'

const SOFTWARE_UPDATE =
  'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Softwareupdate**.'

export const systemChecks: CheckWordsBySlug = {
  'disk-encryption': {
    name: 'Festplattenverschlüsselung',
    title: 'Die Festplatte ist nicht verschlüsselt',
    privacy:
      'Ob die Systemfestplatte verschlüsselt ist, mit welchem Verfahren, und der Name ihres Geräts oder ihr Laufwerksbuchstabe. Keine Dateinamen und keine Wiederherstellungsschlüssel.',
    rationale:
      'Wer {{ device.name }} findet oder stiehlt, kann die Festplatte ausbauen und alles darauf lesen: Dokumente, Mails, gespeicherte Passwörter und Sitzungen. Das Passwort, mit dem Sie sich anmelden, verhindert das nicht. Verschlüsselung verhindert es: Ohne Ihr Passwort steht auf der Festplatte nur Rauschen.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** und wählen Sie **Datenschutz & Sicherheit**.',
        'Blättern Sie bis **FileVault** und wählen Sie **Aktivieren …**. Geben Sie Ihr Passwort ein, wenn danach gefragt wird.',
        'Wählen Sie, wie sich die Festplatte entsperren lässt, wenn Sie Ihr Passwort vergessen. Halten Sie sich an das, was Ihre Organisation zu Wiederherstellungsschlüsseln sagt; sagt sie nichts, schreiben Sie den Schlüssel auf und bewahren Sie ihn getrennt vom Mac auf.',
        'Lassen Sie den Mac am Strom. Verschlüsselt wird im Hintergrund, während Sie arbeiten.',
      ],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `BitLocker` und wählen Sie **BitLocker verwalten**. (Windows Home: Öffnen Sie **Einstellungen** > **Datenschutz und Sicherheit** > **Geräteverschlüsselung** und schalten Sie sie ein.)',
        'Wählen Sie neben dem Laufwerk **{{ issue.value.drive_letter | default: "C:" }}** **BitLocker aktivieren**. Steht dort, dass der Schutz angehalten ist, wählen Sie **Schutz fortsetzen**.',
        'Speichern Sie den Wiederherstellungsschlüssel dort, wo Ihre Organisation es will; nie nur auf diesem Rechner.',
        'Wählen Sie **Gesamtes Laufwerk verschlüsseln**, dann **Verschlüsselung starten**. Sie können weiterarbeiten; starten Sie neu, wenn Sie gefragt werden.',
      ],
      linux: `Linux kann eine Systemfestplatte nicht verschlüsseln, während sie benutzt wird; darum braucht es eine neue Installation.

${numberSteps([
  'Kopieren Sie alles, was Sie brauchen, in eine verschlüsselte Sicherung, und sagen Sie Ihrer IT Bescheid, bevor Sie anfangen.',
  'Starten Sie das Installationsprogramm Ihrer Distribution von einem USB-Stick.',
  'Ubuntu: Wählen Sie auf der Seite zur Festplatte **Festplatte löschen und Ubuntu installieren**, dann **Erweiterte Funktionen …** > **LVM und Verschlüsselung**. Fedora: Kreuzen Sie bei der Aufteilung **Meine Daten verschlüsseln** an.',
  'Wählen Sie eine lange Passphrase, beenden Sie die Installation und spielen Sie Ihre Dateien zurück.',
])}

Den jetzigen Zustand zeigt \`lsblk -o NAME,TYPE,MOUNTPOINTS\`: Die Zeile von \`/\` muss unter einer vom Typ \`crypt\` stehen.`,
    },
  },
  'data-drives-encrypted': {
    name: 'Datenlaufwerke verschlüsselt',
    title: 'Ein Datenlaufwerk ist nicht verschlüsselt',
    privacy:
      'Die Buchstaben der Laufwerke, die BitLocker nicht schützt. Keine Namen und keine Dateien.',
    rationale:
      'Das Laufwerk {{ issue.value.drive | code }} von {{ device.name }} kann jeder ausbauen und lesen, auch wenn das Systemlaufwerk verschlüsselt ist.',
    steps: {
      windows: [
        'Öffnen Sie **Start**, tippen Sie `BitLocker` und wählen Sie **BitLocker verwalten**.',
        'Wählen Sie neben dem Laufwerk {{ issue.value.drive | code }} **BitLocker aktivieren** oder, wenn der Schutz angehalten ist, **Schutz fortsetzen**.',
        'Kreuzen Sie **Laufwerk auf diesem Computer automatisch entsperren** an, speichern Sie den Wiederherstellungsschlüssel dort, wo Ihre Organisation es will, und wählen Sie **Verschlüsselung starten**.',
      ],
    },
  },
  'screen-lock': {
    name: 'Bildschirmsperre',
    title: 'Der Bildschirm sperrt sich nicht von selbst',
    privacy:
      'Ob und nach wie vielen Sekunden sich der Bildschirm von selbst sperrt, für die Konten der angemeldeten Personen.',
    rationale:
      'An einem Rechner, der offen bleibt, während Sie weg sind, kann jeder, der vorbeikommt, Ihre Mails lesen und in Ihrem Namen handeln. Das dauert Sekunden, und keine Spur zeigt, wer es war.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Sperrbildschirm**.',
        'Stellen Sie **Passwort nach Beginn des Bildschirmschoners oder Ausschalten des Displays anfordern** auf **Sofort** oder höchstens 5 Minuten.',
        'Stellen Sie **Bildschirmschoner bei Inaktivität starten** auf höchstens 10 Minuten.',
      ],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Bildschirmschoner` und öffnen Sie **Bildschirmschoner ändern**.',
        'Wählen Sie einen anderen als **(Kein)** und stellen Sie **Wartezeit** auf höchstens 15 Minuten.',
        'Kreuzen Sie **Anmeldeseite bei Reaktivierung** an und wählen Sie **OK**.',
        'Öffnen Sie **Einstellungen** > **Konten** > **Anmeldeoptionen** und stellen Sie die erneute Anmeldung nach Abwesenheit auf **Wenn der PC aus dem Energiesparmodus reaktiviert wird**.',
      ],
    },
  },
  'linux-screen-lock': {
    name: 'Bildschirmsperre unter Linux',
    title: 'Nichts sperrt den Bildschirm',
    privacy:
      'Welche Oberflächen und Bildschirmsperren aus einer festen Liste laufen oder installiert sind. Keine anderen Programme.',
    rationale:
      'An einem Rechner, der offen bleibt, während Sie weg sind, kann jeder, der vorbeikommt, Ihre Mails lesen und in Ihrem Namen handeln. Ihre Fensterverwaltung überlässt das Sperren einem anderen Programm, und keines läuft.',
    steps: {
      linux: `Installieren Sie ein Programm, das den Bildschirm sperrt, und starten Sie es mit Ihrer Sitzung.

- sway und andere unter Wayland: Installieren Sie \`swayidle\` und \`swaylock\`, und ergänzen Sie die Konfiguration: \`exec swayidle -w timeout 300 'swaylock -f' before-sleep 'swaylock -f'\`
- i3 und andere unter X11: Installieren Sie \`xss-lock\` und \`i3lock\`, und ergänzen Sie: \`exec xset s 300\` und \`exec xss-lock -- i3lock -n\`
- Xfce: Installieren Sie \`xfce4-screensaver\` und schalten Sie in dessen Einstellungen die Bildschirmsperre ein.

Melden Sie sich ab und wieder an.`,
    },
  },
  'automatic-updates': {
    name: 'Automatische Updates',
    title: 'Automatische Updates sind aus',
    privacy:
      'Die Einstellungen des Update-Dienstes und unter Linux, ob seine Pakete installiert sind.',
    rationale:
      'Die meisten Einbrüche nutzen Lücken, die seit Wochen geschlossen sind. Mit automatischen Updates schließt {{ device.name }} sie, ohne dass jemand daran denken muss.',
    steps: {
      darwin: [
        SOFTWARE_UPDATE,
        'Wählen Sie die **Info**-Taste (i) neben **Automatische Updates**.',
        'Schalten Sie **Neue Updates laden, wenn verfügbar**, **macOS-Updates installieren** und **Sicherheitsmaßnahmen und Systemdateien installieren** ein, und wählen Sie **Fertig**.',
      ],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Dienste` und öffnen Sie **Dienste**.',
        'Öffnen Sie **Windows Update**, stellen Sie **Starttyp** auf **Manuell** (wie von Windows vorgesehen) und wählen Sie **OK**.',
        'Öffnen Sie **Einstellungen** > **Windows Update** und wählen Sie **Nach Updates suchen**. Steht dort **Updates ausgesetzt**, wählen Sie **Updates fortsetzen**.',
        'Steht auf der Seite, dass Ihre Organisation einige Einstellungen verwaltet, fragen Sie Ihre IT: Eine Richtlinie schaltet die Updates aus.',
      ],
      linux: `Öffnen Sie ein Terminal und führen Sie die Zeilen für Ihre Distribution aus.

Ubuntu und Debian:

\`\`\`
sudo apt install unattended-upgrades
sudo dpkg-reconfigure -plow unattended-upgrades
sudo systemctl enable --now apt-daily-upgrade.timer
\`\`\`

Antworten Sie auf die Frage mit **Ja**. Fedora 41 und neuer (älter: das Paket heißt \`dnf-automatic\` und der Timer \`dnf-automatic.timer\`):

\`\`\`
sudo dnf install dnf5-plugin-automatic
sudo systemctl enable --now dnf5-automatic.timer
\`\`\``,
    },
  },
  'app-store-automatic-updates': {
    name: 'Automatische Updates des App Store',
    title: 'Apps aus dem App Store aktualisieren sich nicht von selbst',
    privacy: 'Ob Apps aus dem App Store von selbst aktualisiert werden. Keine Apps.',
    rationale:
      'Apps haben Lücken wie das Betriebssystem, und ihre Updates schließen sie. Mit diesem Schalter installiert {{ device.name }} sie, ohne dass jemand daran denken muss.',
    steps: {
      darwin: [
        'Öffnen Sie den **App Store**.',
        'Wählen Sie in der Menüleiste **App Store** > **Einstellungen …**.',
        'Kreuzen Sie **Automatische Updates** an.',
      ],
    },
  },
  'operating-system-up-to-date': {
    name: 'Betriebssystem aktuell',
    title: 'Das Betriebssystem ist veraltet',
    privacy: 'Die Version des Betriebssystems, unter Windows mit Build und Revision.',
    rationale:
      'Auf {{ device.name }} läuft die Version {{ issue.value.version | default: "unbekannt" }}. Ihre Lücken sind öffentlich bekannt, und Angreifer haben fertige Werkzeuge dafür. Das Update schließt sie.',
    steps: {
      darwin: [
        'Sichern Sie Ihre Arbeit und schließen Sie den Mac an den Strom an.',
        SOFTWARE_UPDATE,
        'Wählen Sie **Jetzt aktualisieren** oder **Jetzt neu starten**{% if issue.value.minimum_version %}; nötig ist mindestens die Version {{ issue.value.minimum_version }}{% endif %}.',
      ],
      windows: [
        'Öffnen Sie **Einstellungen** > **Windows Update**. Steht dort **Updates ausgesetzt**, wählen Sie **Updates fortsetzen**.',
        'Wählen Sie **Nach Updates suchen**, lassen Sie alles installieren und wählen Sie **Jetzt neu starten**.',
        'Wiederholen Sie das, bis dort **Sie sind auf dem neuesten Stand** steht{% if issue.value.minimum_version %}; nötig ist mindestens der Build {{ issue.value.minimum_version }}{% endif %}. Scheitert ein Update immer wieder, führen Sie **Einstellungen** > **System** > **Problembehandlung** > **Andere Problembehandlungen** > **Windows Update** aus.',
      ],
    },
  },
  'operating-system-supported': {
    name: 'Betriebssystem unterstützt',
    title: 'Für das Betriebssystem gibt es keine Sicherheitsupdates mehr',
    privacy: 'Der Name, die Version und der Build des Betriebssystems.',
    rationale:
      'Auf {{ device.name }} läuft {{ issue.value.version | default: "eine Version" }}, die ihr Hersteller{% if issue.value.supported_until %} seit dem {{ issue.value.supported_until }}{% endif %} nicht mehr repariert. Jede Lücke, die von nun an gefunden wird, bleibt für immer offen.',
    steps: {
      darwin: [
        'Sichern Sie Ihre Dateien.',
        `${SOFTWARE_UPDATE} Wählen Sie **Upgrade durchführen** neben dem neuesten macOS, das angeboten wird.`,
        'Wird kein neueres angeboten, ist dieser Mac zu alt dafür. Bitten Sie Ihre IT um Ersatz.',
      ],
      windows: [
        'Sichern Sie Ihre Dateien.',
        'Öffnen Sie **Einstellungen** > **Windows Update**, wählen Sie **Nach Updates suchen**, dann **Herunterladen und installieren** neben der neuesten Version von Windows 11.',
        'Wird sie nicht angeboten, öffnen Sie **Start**, tippen Sie `PC-Integritätsprüfung` und führen Sie sie aus. Sagt sie, dass Windows 11 auf diesem Rechner nicht läuft, bitten Sie Ihre IT um Ersatz.',
      ],
      linux: `Sichern Sie zuerst Ihre Dateien, dann:

- Ubuntu: Führen Sie \`sudo apt update && sudo apt full-upgrade\` aus, starten Sie neu, und führen Sie \`sudo do-release-upgrade\` aus.
- Fedora: Führen Sie \`sudo dnf upgrade --refresh\` aus, starten Sie neu, dann \`sudo dnf system-upgrade download --releasever=N\` mit der Nummer der neuesten Version, und \`sudo dnf system-upgrade reboot\`.
- Debian und Red Hat: Folgen Sie dem Kapitel zum Upgrade in den Versionshinweisen, oder fragen Sie Ihre IT.`,
    },
  },
  'backups-encrypted': {
    name: 'Sicherungen verschlüsselt',
    title: 'Ein Sicherungsvolume ist nicht verschlüsselt',
    privacy:
      'Name und Kennung von Sicherungsvolumes, die nicht verschlüsselt sind. Nichts von dem, was darauf ist.',
    rationale:
      'Eine Sicherung enthält alles, was der Mac enthält. Das Volume **{{ issue.value.alias }}** ist klein genug, um es zu verlieren, und jeder kann es lesen.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Time Machine**.',
        'Wählen Sie **{{ issue.value.alias }}** und **–**, um es nicht mehr zu benutzen. Die alten Sicherungen bleiben darauf.',
        'Wählen Sie **+** und das Volume noch einmal, schalten Sie **Backup verschlüsseln** ein und legen Sie ein Passwort fest. Muss macOS dafür das Volume löschen, sind Ihre alten Sicherungen verloren.',
      ],
    },
  },
  'disk-space': {
    name: 'Freier Speicherplatz',
    title: 'Die Festplatte ist fast voll',
    privacy: 'Wie viel der Systemfestplatte frei ist. Keine Dateinamen.',
    rationale:
      'Nur noch {{ issue.value.free_percent }} Prozent der Festplatte sind frei. Updates brauchen Platz: Ohne ihn scheitern sie still, und {{ device.name }} bleibt zurück.',
    steps: {
      darwin: [
        'Leeren Sie den **Papierkorb**.',
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Speicher** und folgen Sie den Empfehlungen dort.',
      ],
      windows: [
        'Öffnen Sie **Einstellungen** > **System** > **Speicher** > **Bereinigungsempfehlungen**.',
        'Kreuzen Sie an, was Sie nicht mehr brauchen, und wählen Sie **Bereinigen**.',
        'Schalten Sie die **Speicheroptimierung** ein, damit Windows das von selbst tut.',
      ],
      linux: [
        'Öffnen Sie die **Festplattenbelegungsanalyse** (Paket `baobab`), um zu sehen, was den Platz braucht.',
        'Leeren Sie den Papierkorb, und führen Sie `sudo apt autoremove` oder `sudo dnf autoremove` aus.',
        'Begrenzen Sie das Systemprotokoll: `sudo journalctl --vacuum-size=500M`.',
      ],
    },
  },
}
