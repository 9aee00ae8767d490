import LayoverPasswords

extension Codec where Value == [String: PasswordHash] {
    /// Most users. Default: 1000.
    private static let countMax = 1000

    /// Names and password hashes.
    static var users: Codec {
        let members = Codec<[String: String]>.texts("object of names and hashes")
        return Codec(members.typeName, fromText: members.fromText, write: { members.write($0.mapValues(\.text)) }) {
            (value) throws(Refusal) in
            let texts = try members.read(value)
            guard texts.count <= countMax else { throw Refusal(message: "more than \(countMax) users") }
            var users: [String: PasswordHash] = [:]
            for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
                if let complaint = ProxySettings.complaint(aboutUser: name) { throw Refusal(place: "." + name, message: complaint) }
                do throws(PasswordError) {
                    users[name] = try PasswordHash(text)
                } catch {
                    throw Refusal(place: "." + name, message: error.description)
                }
            }
            return users
        }
    }
}
