import GRDBSQLite
import LayoverCore
import LayoverHTTP
import LayoverSystem
import NIOCore
import Synchronization

/// Keeps secret field values out of the database's own text: they are taken out of their lines and sealed with
/// AES-GCM (NIST SP 800-38D).
///
/// Each ticket has a key of its own, derived from the store's key and the ticket's id (HKDF, RFC 5869). So the
/// random nonces of one key stay few, and a row copied to another ticket does not open.
struct FieldSealing: Sendable {
    /// The origin of a value.
    enum Part: UInt8 {
        case requestFields = 1
        case requestTrailers = 2
        case responseFields = 3
    }

    /// Sealed values and the number of the key. Nil in place of them: no value was secret.
    struct Sealed {
        var keyNumber: Int
        var bytes: [UInt8]
    }

    /// One value that was taken out.
    private struct Item {
        var part: Part
        var secret: SecretValues.Credential
    }

    /// In lower case.
    private let names: [String]
    private let routeFields: SealedFields
    private let keys: StoreKeys

    /// - Parameters:
    ///   - names: Names of fields in any case. `Cookie` means `Set-Cookie` too.
    ///   - routeFields: More names, which may change.
    init(names: [String], routeFields: SealedFields = .init(), keys: StoreKeys) {
        var names = names.map { $0.lowercased() }
        if names.contains("cookie") { names.append(CredentialFields.ofResponses) }
        self.names = names
        self.routeFields = routeFields
        self.keys = keys
    }

    private func values(of part: Part) -> SecretValues {
        SecretValues(names: names + routeFields.names.subtracting(names), end: part == .responseFields ? .lineBreak : .null)
    }

    // MARK: Sealing

    /// Takes the secrets out of fields, and seals all of them.
    func seal(_ parts: [(Part, ByteBuffer)], of id: EntryID) throws(StoreError) -> ([ByteBuffer], Sealed?) {
        var clear: [ByteBuffer] = []
        var items: [Item] = []
        for (part, fields) in parts {
            let (rest, secrets) = values(of: part).split(fields)
            clear.append(rest)
            items += secrets.map { Item(part: part, secret: $0) }
        }
        return (clear, items.isEmpty ? nil : try seal(items, of: id))
    }

    private func seal(_ items: [Item], of id: EntryID) throws(StoreError) -> Sealed {
        let number = keys.newestNumber
        let key = try ticketKey(number, of: id)
        var writer = ByteWriter()
        for item in items {
            writer.write(UInt64(item.part.rawValue))
            writer.write(UInt64(item.secret.line))
            do {
                writer.write(try AES256GCM.seal(item.secret.value, using: key, authenticating: binding(item, to: id)))
            } catch { throw StoreError(error) }
        }
        return Sealed(keyNumber: number, bytes: writer.bytes)
    }

    // MARK: Opening

    /// Puts the secrets back where they were.
    func open(_ parts: [(Part, ByteBuffer)], _ sealed: Sealed?, of id: EntryID) throws(StoreError) -> [ByteBuffer] {
        guard let sealed else { return parts.map(\.1) }
        let items = try openItems(sealed, of: id)
        return parts.map { part, clear in
            values(of: part).join(clear, items.filter { $0.part == part }.map(\.secret))
        }
    }

    /// The same values, sealed with the newest key.
    func resealed(_ sealed: Sealed, of id: EntryID) throws(StoreError) -> Sealed {
        try seal(try openItems(sealed, of: id), of: id)
    }

    private func openItems(_ sealed: Sealed, of id: EntryID) throws(StoreError) -> [Item] {
        let key = try ticketKey(sealed.keyNumber, of: id)
        var items: [Item] = []
        do {
            try sealed.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                while !reader.isAtEnd {
                    guard let part = UInt8(exactly: try reader.readUInt64()).flatMap(Part.init(rawValue:)),
                        let line = Int(exactly: try reader.readUInt64())
                    else { throw ByteReader.Malformed() }
                    var item = Item(part: part, secret: .init(line: line, value: []))
                    item.secret.value = try AES256GCM.open(
                        Array(try reader.readSpan()), using: key, authenticating: binding(item, to: id))
                    items.append(item)
                }
            }
        } catch let error as CryptoError where error.code != .notAuthentic {
            throw StoreError(error)
        } catch { throw Self.notOpening }
        return items
    }

    // MARK: Parts

    private func ticketKey(_ number: Int, of id: EntryID) throws(StoreError) -> SymmetricKey {
        guard let key = keys.keys[number] else {
            throw StoreError(
                code: SQLITE_CORRUPT, text: "the key file lacks key \(number), with which a field value is encrypted")
        }
        do {
            return try key.derived(
                salt: id.bytes, info: Array("layover field values 1".utf8), byteCount: AES256GCM.keyByteCount)
        } catch { throw StoreError(error) }
    }

    /// A sealed value opens only for this ticket, this part, this line.
    private func binding(_ item: Item, to id: EntryID) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(id.bytes)
        writer.write(UInt64(item.part.rawValue))
        writer.write(UInt64(item.secret.line))
        return writer.bytes
    }

    /// No waiting cures it, like any other damage.
    private static let notOpening = StoreError(
        code: SQLITE_CORRUPT,
        text: "a field value cannot be decrypted: the key file is a different one, or the row was changed")
}

/// Takes the values of some fields out of field lines, by the number of their line, and puts them back.
struct SecretValues {
    /// A value that was taken out of a line.
    struct Credential: Equatable {
        /// From 0.
        var line: Int
        var value: [UInt8]
    }

    /// The fields whose values are secret; upper and lower case are the same.
    var names: [String]
    /// NULs in requests, line breaks in responses.
    var end: FieldLines.End

    private static let dropped = CredentialFields.ofProxy

    /// The lines without the secret values, and the values. `Proxy-Authorization` is gone altogether.
    func split(_ fields: ByteBuffer) -> (clear: ByteBuffer, secrets: [Credential]) {
        let lines = FieldLines(fields, end: end)
        if !lines.contains(where: { isSecret($0) || $0.isNamed(Self.dropped) }) { return (fields, []) }
        var clear = ByteBuffer()
        var secrets: [Credential] = []
        var number = 0
        for field in lines where !field.isNamed(Self.dropped) {
            if isSecret(field), field.hasValue {
                let bytes = field.line.readableBytesView
                secrets.append(Credential(line: number, value: Array(bytes.dropFirst(field.valueStart))))
                clear.writeBytes(bytes.prefix(field.valueStart))
            } else {
                clear.writeImmutableBuffer(field.line)
            }
            clear.writeBytes(end.bytes)
            number += 1
        }
        return (clear, secrets)
    }

    /// The lines with the values back in their places.
    func join(_ clear: ByteBuffer, _ secrets: [Credential]) -> ByteBuffer {
        if secrets.isEmpty { return clear }
        var fields = ByteBuffer()
        var rest = secrets[...]
        for (number, field) in FieldLines(clear, end: end).enumerated() {
            fields.writeImmutableBuffer(field.line)
            if let secret = rest.first, secret.line == number {
                fields.writeBytes(secret.value)
                rest.removeFirst()
            }
            fields.writeBytes(end.bytes)
        }
        return fields
    }

    private func isSecret(_ field: FieldSlice) -> Bool { names.contains { field.isNamed($0) } }
}

/// Names of fields that are sealed besides those of `store.encryptFields`: what the routes set or add.
///
/// A reload adds names. None is removed before the process ends: requests of an earlier route are still stored.
package final class SealedFields: Sendable {
    private let kept: Mutex<Set<String>>

    package init(_ names: some Sequence<String> = []) { kept = Mutex(Set(names.map { $0.lowercased() })) }

    package func add(_ names: some Sequence<String>) {
        let more = names.map { $0.lowercased() }
        kept.withLock { $0.formUnion(more) }
    }

    /// In lower case.
    var names: Set<String> { kept.withLock { $0 } }
}
