import FoundationEssentials

/// Finds a name that appears twice in one object of a JSON text.
///
/// The meaning of such an object is undefined (RFC 8259 section 4), and a decoder silently keeps one of the values:
/// `{"dryRun":true,"dryRun":false}` must not be carried out. Names are compared after their escapes are undone. Of a text
/// that is no JSON nothing is said here: the decoder refuses it.
struct RepeatedName {
    /// Objects and arrays that are open; an array has no names.
    private var open: [Set<String>?] = []
    private var awaitsName = false

    /// The first repeated name; nil if no name is repeated.
    static func first(in text: [UInt8]) -> String? {
        var search = RepeatedName()
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "\"") {
                let end = Self.end(ofStringAt: index, in: text)
                if let name = search.took(text[index..<end]) { return name }
                index = end
            } else {
                search.took(text[index])
                index += 1
            }
        }
        return nil
    }

    private mutating func took(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"):
            open.append([])
            awaitsName = true
        case UInt8(ascii: "["):
            open.append(nil)
            awaitsName = false
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = open.popLast()
            awaitsName = false
        case UInt8(ascii: ","):
            awaitsName = (open.last ?? nil) != nil
        default: break
        }
    }

    /// - Returns: The string, where it is a name and its object has it already.
    private mutating func took(_ string: ArraySlice<UInt8>) -> String? {
        guard awaitsName, let name = Self.text(of: string), let place = open.indices.last else { return nil }
        awaitsName = false
        return open[place]?.insert(name).inserted == false ? name : nil
    }

    /// The place behind a string that begins with a quotation mark.
    private static func end(ofStringAt start: Int, in text: [UInt8]) -> Int {
        var index = start + 1
        while index < text.count {
            if text[index] == UInt8(ascii: "\"") { return index + 1 }
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return text.count
    }

    private static func text(of string: ArraySlice<UInt8>) -> String? {
        guard string.contains(UInt8(ascii: "\\")) else {
            return String(validating: string.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(string))
    }
}
