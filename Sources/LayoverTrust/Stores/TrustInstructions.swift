/// What people do where Layover cannot: other systems, other machines.
package enum TrustInstructions {
    /// - Parameter file: The certificate, as it is called on this machine.
    package static func lines(file: String) -> [String] {
        let file = ShellWord.quoted(file)
        return [
            "Debian, Ubuntu     sudo install -D -m 0644 \(file) \(SystemTrustStore.folder)/layover.crt && sudo update-ca-certificates",
            "Fedora, RHEL       sudo install -m 0644 \(file) /etc/pki/ca-trust/source/anchors/layover.pem && sudo update-ca-trust",
            "Arch               sudo trust anchor --store \(file)",
            "macOS              sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain layover.pem",
            "Windows            certutil -user -addstore Root layover.pem",
            "Firefox            Settings, Privacy & Security, View Certificates, Authorities, Import",
            "",
            "On another machine: layover ca export -o layover.pem, and copy that file. Never copy ca.key.",
        ]
    }
}
