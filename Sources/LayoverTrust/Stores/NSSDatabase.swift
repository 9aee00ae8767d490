import Foundation
package import LayoverTLS

/// A database of NSS (`cert9.db` in a folder), as Chromium and each profile of Firefox have one.
///
/// - SeeAlso: certutil(1)
package struct NSSDatabase: TrustStore {
    package let kind = TrustStoreKind.nss
    package let place: String
    private let environment: [String: String]

    package init(_ folder: String, environment: [String: String]) { (place, self.environment) = (folder, environment) }

    private var name: String { "sql:\(place)" }
    private var exists: Bool { access("\(place)/cert9.db", F_OK) == 0 }

    package func presence(of certificate: Certificate) -> TrustPresence {
        guard exists else { return .absent }
        guard let tool = ToolRun.find("certutil", environment: environment) else { return .unknown("certutil is missing (libnss3-tools)") }
        let listing = ToolRun.run(tool, ["-L", "-d", name], environment: environment)
        guard listing.status == 0 else { return .unknown(listing.complaint) }
        return entries(of: certificate, tool, listing.output).contains { $0.trust.hasPrefix("C") } ? .trusted : .absent
    }

    package func add(_ certificate: Certificate) throws(TrustObstacle) {
        let tool = try tool()
        if !exists {
            do throws(TrustError) { try BoundedFile.makeFolder(place, mode: 0o700) } catch { throw .failed(error.message) }
            try run(tool, ["-N", "--empty-password"])
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("layover-\(UUID().uuidString).pem").path
        do throws(TrustError) { try BoundedFile.write(Array(certificate.pem.utf8), to: file) } catch { throw .failed(error.message) }
        defer { unlink(file) }
        do throws(TrustObstacle) {
            try run(tool, ["-A", "-n", certificate.nickname, "-t", "C,,", "-i", file])
        } catch {
            // With a primary password it is stored, but not trusted.
            _ = ToolRun.run(tool, ["-D", "-d", name, "-n", certificate.nickname, "-f", "/dev/null"], environment: environment)
            throw error
        }
    }

    package func remove(_ certificate: Certificate) throws(TrustObstacle) {
        let tool = try tool()
        let listing = ToolRun.run(tool, ["-L", "-d", name], environment: environment)
        guard listing.status == 0 else { throw .failed(listing.complaint) }
        for entry in entries(of: certificate, tool, listing.output) { try run(tool, ["-D", "-n", entry.nickname]) }
    }

    package func linesToAdd(_ certificate: Certificate, file: String) -> [String] {
        let database = ShellWord.quoted(name)
        let making = exists ? "" : "mkdir -p \(ShellWord.quoted(place)) && certutil -N -d \(database) --empty-password && "
        return ["\(making)certutil -A -d \(database) -n '\(certificate.nickname)' -t C,, -i \(ShellWord.quoted(file))"]
    }

    package func linesToRemove(_ certificate: Certificate) -> [String] {
        ["certutil -D -d \(ShellWord.quoted(name)) -n '\(certificate.nickname)'"]
    }

    private func tool() throws(TrustObstacle) -> String {
        guard let tool = ToolRun.find("certutil", environment: environment) else {
            throw .missing(program: "certutil", package: "libnss3-tools")
        }
        return tool
    }

    private func run(_ tool: String, _ arguments: [String]) throws(TrustObstacle) {
        // An empty file of passwords: otherwise it asks on the terminal where there is a primary password.
        let words = [arguments[0], "-d", name] + arguments.dropFirst() + (arguments[0] == "-N" ? [] : ["-f", "/dev/null"])
        let result = ToolRun.run(tool, words, environment: environment)
        guard result.status != 0 else { return }
        let isLocked = result.errors.contains("SEC_ERROR_BAD_PASSWORD")
        throw .failed(isLocked ? "it has a primary password; import the certificate in the browser's settings" : result.complaint)
    }

    /// The entries that hold this very certificate.
    ///
    /// Asked for one name, certutil gives every certificate with the same subject. So the name that `add` gave decides; a certificate under
    /// another name is found if nothing else has its subject.
    private func entries(of certificate: Certificate, _ tool: String, _ listing: String) -> [(nickname: String, trust: String)] {
        let all = Self.entries(of: listing)
        func certificates(_ nickname: String) -> [[UInt8]] {
            let text = ToolRun.run(tool, ["-L", "-d", name, "-n", nickname, "-a"], environment: environment).output
            return PEM.certificates(in: Array(text.utf8))
        }
        if let own = all.first(where: { $0.nickname == certificate.nickname }), certificates(own.nickname).contains(certificate.der) {
            return [own]
        }
        // Asking takes a process each: of the many that a browser keeps, only authorities are looked at.
        return all.filter { $0.trust.hasPrefix("C") && certificates($0.nickname) == [certificate.der] }
    }

    /// Nicknames and trust, of lines such as `Layover CA 0123456789abcdef      C,,  `.
    static func entries(of listing: String) -> [(nickname: String, trust: String)] {
        listing.split(whereSeparator: \.isNewline).compactMap { line in
            guard let match = String(line).firstMatch(of: #/^(.*?)\s+([a-zA-Z]*,[a-zA-Z]*,[a-zA-Z]*)\s*$/#) else { return nil }
            let trust = String(match.output.2)
            return trust.contains("SSL") ? nil : (String(match.output.1), trust)
        }
    }
}

/// Where browsers keep their databases.
package enum NSSPlaces {
    /// Folders with profiles of Firefox, below HOME: those of the Debian package (the second one from Firefox 147 on), of the snap and
    /// of the flatpak.
    private static let firefoxFolders = [
        ".mozilla/firefox", ".config/mozilla/firefox", "snap/firefox/common/.mozilla/firefox",
        ".var/app/org.mozilla.firefox/.mozilla/firefox", ".var/app/org.mozilla.firefox/config/mozilla/firefox",
    ]
    /// Databases of Chromium and its kin in a sandbox of their own.
    private static let sandboxedChromium = [
        "snap/chromium/current/.pki/nssdb", "snap/chromium/current/.local/share/pki/nssdb",
        ".var/app/org.chromium.Chromium/.pki/nssdb", ".var/app/com.google.Chrome/.pki/nssdb", ".var/app/com.brave.Browser/.pki/nssdb",
    ]

    /// Every database that exists. If neither the older nor the newer database of Chromium exists, the newer one is listed all the same.
    /// Chromium uses the older one if it exists. Otherwise it makes the newer one (from version 146 on).
    package static func databases(environment: [String: String]) -> [NSSDatabase] {
        guard let home = environment["HOME"], home.hasPrefix("/") else { return [] }
        func exists(_ folder: String) -> Bool { access("\(folder)/cert9.db", F_OK) == 0 }
        let older = "\(home)/.pki/nssdb"
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.local/share"
        let newer = "\(data)/pki/nssdb"
        var folders = exists(older) ? [older] : []
        if exists(newer) || !exists(older) { folders.append(newer) }
        folders += sandboxedChromium.map { "\(home)/\($0)" }.filter(exists)
        for folder in firefoxFolders.map({ "\(home)/\($0)" }) {
            let profiles = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            folders += profiles.sorted().map { "\(folder)/\($0)" }.filter(exists)
        }
        return folders.map { NSSDatabase($0, environment: environment) }
    }
}
