module example.org/cannot-be-done

go 1.21
