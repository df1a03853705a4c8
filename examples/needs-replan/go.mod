module example.org/needs-replan

go 1.21
