/// The error of these tests.
enum Trouble: Error, Hashable {
    case offline, refused
    case status(Int)
}
