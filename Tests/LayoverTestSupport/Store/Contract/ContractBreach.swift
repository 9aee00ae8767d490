/// A breach of the contract by a store.
package struct ContractBreach: Error, CustomStringConvertible {
    package var description: String
}

/// Throws where something does not hold.
func require(_ holds: Bool, _ sentence: String, line: Int = #line, file: StaticString = #fileID) throws {
    if !holds { throw ContractBreach(description: "\(sentence) (\(file):\(line))") }
}

/// Throws where two values differ, and says how.
func require<Value: Equatable>(
    _ found: Value, is expected: Value, line: Int = #line, file: StaticString = #fileID
) throws {
    if found != expected {
        throw ContractBreach(description: "found \(found), expected \(expected) (\(file):\(line))")
    }
}
