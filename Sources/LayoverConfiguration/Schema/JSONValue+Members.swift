extension JSONValue {
    /// The members of an object all of whose names are known.
    func members(among known: [String]) throws(Refusal) -> [String: JSONValue] {
        guard case .object(let members) = self else { throw Refusal(message: mismatch("an object")) }
        for name in members.keys.sorted() where !known.contains(name) {
            throw Refusal(place: "." + name, message: NearestName.complaint(name, known: known))
        }
        return members
    }
}

extension [String: JSONValue] {
    /// Reads one member; nil if the member is absent.
    func read<Member>(_ name: String, by codec: Codec<Member>) throws(Refusal) -> Member? {
        guard let member = self[name] else { return nil }
        do throws(Refusal) {
            return try codec.read(member)
        } catch {
            throw Refusal(place: "." + name + error.place, message: error.message)
        }
    }
}
