/* Checks of accounts, passwords and keys, in German. */
import type { CheckWordsBySlug } from './check-words.ts'
import { ADMIN_TERMINAL } from './phrases.ts'

const NEW_PASSPHRASE = `Öffnen Sie ein Terminal und geben Sie dem Schlüssel eine Passphrase:

1. Führen Sie \`ssh-keygen -p -f DATEI\` aus, mit dem Pfad des Schlüssels statt \`DATEI\`: {{ issue.value.path | code }}
2. Geben Sie zweimal eine neue Passphrase ein. Der Schlüssel bleibt derselbe, also ändert sich nichts für die Server, die ihn kennen.`

export const accessChecks: CheckWordsBySlug = {
  'automatic-login-disabled': {
    name: 'Automatische Anmeldung aus',
    title: 'Das Gerät meldet ohne Passwort an',
    privacy:
      'Ob automatisch angemeldet wird und, unter macOS, welches Konto. Niemals ein Passwort.',
    rationale:
      '{{ device.name }} meldet beim Start von selbst an. Wer es findet, muss es nur einschalten, und die Verschlüsselung der Festplatte hilft nicht: Sie entsperrt sich mit.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Benutzer:innen & Gruppen**.',
        'Stellen Sie **Automatisch anmelden als** auf **Aus**.',
      ],
      windows: [
        'Drücken Sie **Windows-R**, tippen Sie `netplwiz` und drücken Sie **Eingabe**.',
        'Kreuzen Sie **Benutzer müssen Benutzernamen und Kennwort eingeben** an und wählen Sie **OK**. Fehlt die Zeile, öffnen Sie zuerst **Einstellungen** > **Konten** > **Anmeldeoptionen** und lassen Sie dort auch andere Anmeldungen als Windows Hello zu; nehmen Sie das danach zurück.',
      ],
    },
  },
  'guest-account-disabled': {
    name: 'Gastkonto aus',
    title: 'Das Gastkonto ist an',
    privacy: 'Ob das Gastkonto an ist.',
    rationale:
      'Mit dem Gastkonto kann jeder, der {{ device.name }} in der Hand hat, es ohne Passwort benutzen, in seinem Namen ins Netz gehen und etwas darauf zurücklassen.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Benutzer:innen & Gruppen**.',
        'Wählen Sie die **Info**-Taste (i) neben **Gast** und schalten Sie **Gästen erlauben, sich an diesem Computer anzumelden** aus.',
      ],
      windows: [
        ADMIN_TERMINAL,
        'Führen Sie `net user Gast /active:no` aus. In einem Windows anderer Sprache heißt das Konto wie dort, etwa `guest`.',
      ],
    },
  },
  'accounts-have-passwords': {
    name: 'Konten haben Passwörter',
    title: 'Ein Konto hat kein Passwort',
    privacy: 'Die Namen lokaler Konten ohne Passwort. Keine Hashes von Passwörtern.',
    rationale:
      'Jeder kann sich ohne Passwort als **{{ issue.value.username }}** anmelden, an der Tastatur und vielleicht über das Netz.',
    steps: `Öffnen Sie ein Terminal.

- Benutzt jemand das Konto **{{ issue.value.username }}**, geben Sie ihm ein Passwort: \`sudo passwd NAME\`.
- Benutzt es niemand, sperren Sie es: \`sudo passwd --lock NAME\`.

Setzen Sie den Namen des Kontos statt \`NAME\` ein.`,
  },
  'password-policy': {
    name: 'Regel für Passwörter',
    title: 'Kurze Passwörter sind erlaubt',
    privacy: 'Die kürzeste Länge von Passwörtern, die das Gerät annimmt. Niemals ein Passwort.',
    rationale:
      '{{ device.name }} nimmt Passwörter mit {{ issue.value.minimum_length }} Zeichen an. Kurze lassen sich durch Probieren erraten, vor allem von einer gestohlenen Festplatte oder über ein Netz.',
    steps: {
      darwin: `Ein Profil Ihrer Organisation setzt die Regel; fragen Sie Ihre IT, ob eines unterwegs ist. Wenn Sie sich selbst um diesen Mac kümmern, öffnen Sie **Terminal** und führen Sie die Zeile aus; sie fragt nach Ihrem Passwort. Ihr jetziges Passwort bleibt, bis Sie es ändern.

\`\`\`
sudo pwpolicy -setglobalpolicy "minChars=8"
\`\`\``,
      windows: [
        ADMIN_TERMINAL,
        'Führen Sie `net accounts /minpwlen:8` aus. Ihr jetziges Passwort bleibt, bis Sie es ändern.',
        'Kommt das Problem wieder, setzt eine Richtlinie Ihrer Organisation eine andere Länge: Sagen Sie es Ihrer IT.',
      ],
    },
  },
  'user-not-local-administrator': {
    name: 'Ohne Administratorrechte angemeldet',
    title: 'Wer angemeldet ist, hat Administratorrechte',
    privacy: 'Die Namen der angemeldeten Konten, und welche von ihnen Administratoren sind.',
    rationale:
      '**{{ issue.value.administrators }}** darf auf {{ device.name }} alles ändern, und jedes Programm, das dort versehentlich gestartet wird, auch: Schutz ausschalten, Dateien anderer lesen, sich dauerhaft einrichten.',
    steps: {
      darwin: [
        'Sehen Sie nach, ob es ein anderes Administratorkonto gibt, dessen Passwort Sie kennen: Apple-Menü > **Systemeinstellungen** > **Benutzer:innen & Gruppen**. Gibt es keines, wählen Sie **Benutzer:in hinzufügen …** und **Administrator:in**.',
        'Melden Sie sich mit diesem Konto an, öffnen Sie **Benutzer:innen & Gruppen**, wählen Sie die **Info**-Taste (i) neben Ihrem eigenen Konto und nehmen Sie ihm das Recht, diesen Computer zu verwalten.',
        'Starten Sie den Mac neu und arbeiten Sie mit Ihrem Konto weiter. macOS fragt nach Namen und Passwort des anderen, wenn etwas es braucht.',
      ],
      windows: [
        'Sehen Sie nach, ob es ein anderes Administratorkonto gibt, dessen Passwort Sie kennen: **Einstellungen** > **Konten** > **Andere Benutzer**.',
        'Melden Sie sich mit diesem Konto an, öffnen Sie **Andere Benutzer**, wählen Sie Ihr eigenes Konto > **Kontotyp ändern** > **Standardbenutzer**.',
        'Melden Sie sich wieder mit Ihrem Konto an. Windows fragt nach dem Passwort des anderen, wenn etwas es braucht.',
      ],
      linux: [
        'Sehen Sie mit `getent group sudo wheel` nach, ob ein anderes Konto in der Gruppe `sudo` oder `wheel` ist, dessen Passwort Sie kennen.',
        'Melden Sie sich damit an und führen Sie `sudo gpasswd -d NAME sudo` (Ubuntu und Debian) oder `sudo gpasswd -d NAME wheel` (Fedora und Red Hat) mit dem Namen Ihres eigenen aus.',
        'Melden Sie sich ab und wieder an. Muss etwas verwaltet werden, benutzen Sie das andere Konto.',
      ],
    },
  },
  'sudo-requires-password': {
    name: 'sudo verlangt ein Passwort',
    title: 'sudo gibt ohne Passwort Administratorrechte',
    privacy:
      'Die Regeln von sudo, die kein Passwort verlangen, mit den Namen darin, und ihre Dateien.',
    rationale:
      'Mit der Regel {{ issue.value.rule | code }} kann sich jedes Programm, das Sie starten, unbemerkt zum Administrator machen.',
    steps: [
      'Öffnen Sie ein Terminal und die Datei mit der Regel zum Bearbeiten: `sudo visudo -f DATEI`, mit diesem Pfad statt `DATEI`: {{ issue.value.source | code }}',
      'Suchen Sie die Zeile {{ issue.value.rule | code }} und löschen Sie `NOPASSWD:` oder `!authenticate` darin. Braucht niemand die Regel, löschen Sie die Zeile.',
      'Speichern und schließen Sie. Der Editor nimmt keine Datei mit Fehlern an; Sie können sich also nicht aussperren.',
    ],
  },
  'ssh-keys-encrypted': {
    name: 'SSH-Schlüssel verschlüsselt',
    title: 'Ein SSH-Schlüssel hat keine Passphrase',
    privacy:
      'Pfad, Art und Besitzer jedes privaten SSH-Schlüssels ohne Passphrase. Niemals der Schlüssel selbst.',
    rationale:
      'Die Datei {{ issue.value.path | code }} öffnet in Ihrem Namen Server und Repositorys. Wer ohne Passphrase eine Kopie bekommt, aus einer Sicherung oder durch ein Schadprogramm, kann sie sofort benutzen.',
    steps: {
      darwin: `${NEW_PASSPHRASE}
3. Lassen Sie den Schlüsselbund sie behalten: \`ssh-add --apple-use-keychain DATEI\`.`,
      windows: `${NEW_PASSPHRASE}
3. Lassen Sie Windows sie behalten: in einem Terminal als Administrator \`Set-Service ssh-agent -StartupType Automatic; Start-Service ssh-agent\`, dann \`ssh-add DATEI\` in Ihrem eigenen.`,
      linux: `${NEW_PASSPHRASE}
3. GNOME fragt einmal und behält sie für die Sitzung. Sonst führen Sie \`ssh-add DATEI\` aus.`,
    },
  },
  'password-manager-installed': {
    name: 'Passwortmanager installiert',
    title: 'Kein Passwortmanager ist installiert',
    privacy:
      'Die Namen der gefundenen Passwortmanager. Niemals, was darin ist, und keine anderen Programme oder Erweiterungen.',
    rationale:
      'Wer sich Passwörter merken muss, benutzt immer wieder dasselbe. Wird in eine Website eingebrochen, stehen alle anderen auch offen. Ein Passwortmanager macht für jede ein anderes und füllt es nur auf der echten aus.',
    steps: `Installieren Sie den Passwortmanager, den {{ organisation.name | default: "Ihre Organisation" }} anbietet; fragen Sie Ihre IT, welcher das ist. Dann:

1. Fügen Sie Ihrem Browser seine Erweiterung hinzu und melden Sie sich darin an.
2. Lassen Sie ihn die Passwörter übernehmen, die Ihr Browser gespeichert hat.
3. Ändern Sie die Passwörter, die Sie mehrfach benutzt haben; beginnen Sie mit Ihrem Mailkonto.`,
  },
  'two-factor-backup-codes': {
    name: 'Keine Ersatzcodes auf der Festplatte',
    title: 'Ersatzcodes für die Anmeldung liegen auf der Festplatte',
    privacy:
      'Pfad und Größe von Dateien mit solchem Namen. Niemals, was darin steht, und keine anderen Dateien.',
    rationale:
      'Ihrem Namen nach enthält {{ issue.value.path | code }} Ersatzcodes. Jeder davon meldet anstelle Ihres Telefons oder Sicherheitsschlüssels bei Ihrem Konto an. Wer die Datei kopiert, aus einer Sicherung oder durch ein Schadprogramm, kommt am zweiten Schritt vorbei.',
    steps: [
      'Öffnen Sie {{ issue.value.path | code }} und sehen Sie nach, ob Ersatzcodes darin stehen. Wenn nicht, beantragen Sie eine Ausnahme.',
      'Kopieren Sie die Codes in Ihren Passwortmanager, oder drucken Sie sie und bewahren Sie das Papier sicher auf.',
      'Löschen Sie die Datei und leeren Sie den **Papierkorb**.',
      'Wurde die Datei geteilt oder anderswo gesichert, erzeugen Sie in den Sicherheitseinstellungen des Kontos neue Codes: Die alten enden damit.',
    ],
  },
  'password-manager-kits': {
    name: 'Keine Notfallblätter und Exporte von Passwortmanagern',
    title: 'Ein Notfallblatt oder Export eines Passwortmanagers liegt auf der Festplatte',
    privacy:
      'Pfad und Größe von Dateien mit solchem Namen. Niemals, was darin steht, und keine anderen Dateien.',
    rationale:
      'Ihrem Namen nach ist {{ issue.value.path | code }} ein Notfallblatt oder ein Export eines Passwortmanagers. Sie öffnet alle Ihre Passwörter auf einmal, und Programme, die stehlen, suchen zuerst nach ihr.',
    steps: [
      'Öffnen Sie {{ issue.value.path | code }} und sehen Sie nach, was es ist. Ist es weder ein Notfallblatt noch eine Liste von Passwörtern, beantragen Sie eine Ausnahme.',
      'Ein Notfallblatt: Drucken Sie es und bewahren Sie das Papier bei wichtigen Unterlagen auf. Ein Export: Lesen Sie ihn dort ein, wo Sie ihn brauchen.',
      'Löschen Sie die Datei und leeren Sie den **Papierkorb**.',
      'Wurde die Datei geteilt oder anderswo gesichert, sagen Sie es Ihrer IT und ändern Sie die Passwörter darin; beginnen Sie mit dem des Passwortmanagers.',
    ],
  },
  'plain-text-cloud-credentials': {
    name: 'Keine Zugänge zu Clouds im Klartext',
    title: 'Der Zugang zu einer Cloud liegt im Klartext auf der Festplatte',
    privacy:
      'Pfad und Größe der Dateien, in denen diese Werkzeuge Zugänge ablegen. Niemals, was darin steht.',
    rationale:
      'In der Datei {{ issue.value.path | code }} legt ein Werkzeug den Zugang zu einer Cloud ab, lesbar für jedes Programm, das in Ihrem Namen läuft. Schädliche Pakete und Programme suchen genau diese Datei und schicken sie weg.',
    steps: `Nehmen Sie den Zugang aus {{ issue.value.path | code }} heraus:

- AWS: Benutzen Sie \`aws configure sso\` und \`aws sso login\`, oder bewahren Sie die Schlüssel im Passwortmanager auf und nennen Sie ihn in \`credential_process\`. Löschen Sie dann die Schlüssel der Datei, und in AWS auch, wenn sie lange benutzt wurden.
- Google Cloud: Führen Sie \`gcloud auth application-default revoke\` aus, wenn Sie den Zugang nicht brauchen; melden Sie sich sonst mit \`gcloud auth application-default login\` wieder an.
- Azure: Führen Sie nach der Arbeit \`az logout\` oder \`az account clear\` aus.
- Terraform: Führen Sie \`terraform logout\` aus, und geben Sie das Token in einer Umgebungsvariablen, die Ihr Passwortmanager füllt.
- Andere Werkzeuge: Führen Sie ihren Befehl zum Abmelden aus.

Steht in der Datei kein Zugang, oder braucht Ihre Arbeit sie, beantragen Sie eine Ausnahme.`,
  },
  'plain-text-registry-credentials': {
    name: 'Keine Zugänge zu Paketservern im Klartext',
    title: 'Der Zugang zu einem Paketserver liegt im Klartext auf der Festplatte',
    privacy:
      'Pfad und Größe der Dateien, in denen diese Werkzeuge Zugänge ablegen. Niemals, was darin steht.',
    rationale:
      'In der Datei {{ issue.value.path | code }} legt ein Werkzeug Passwörter oder Token eines Paket- oder Code-Servers ab, lesbar für jedes Programm, das in Ihrem Namen läuft. Würmer unter den Paketen stehlen solche Token und veröffentlichen sich in Ihrem Namen.',
    steps: `Sehen Sie in {{ issue.value.path | code }}. Steht dort ein Token oder Passwort:

- npm: Führen Sie \`npm logout\` aus. Veröffentlichen Sie von Ihrem Build-Dienst, oder geben Sie das Token in einer Umgebungsvariablen: \`//registry.npmjs.org/:_authToken=\${NPM_TOKEN}\`.
- PyPI: Löschen Sie das Passwort und bewahren Sie es mit \`keyring set https://upload.pypi.org/legacy/ __token__\` auf, oder veröffentlichen Sie von Ihrem Build-Dienst.
- Docker und Podman: Installieren Sie einen Credential Helper (\`docker-credential-osxkeychain\`, \`-wincred\`, \`-secretservice\` oder \`-pass\`), führen Sie \`docker logout\` aus, dann wieder \`docker login\`.
- Git: Führen Sie \`git config --global credential.helper\` mit \`osxkeychain\`, \`manager\` oder \`libsecret\` aus und löschen Sie die Datei.
- Cargo und RubyGems: Führen Sie \`cargo logout\` aus oder löschen Sie die Datei, und bewahren Sie das Token im Passwortmanager auf.

Widerrufen Sie dann das alte Token beim Server. Stehen in der Datei nur Einstellungen, beantragen Sie eine Ausnahme.`,
  },
}
